from dpmorse.schema.layout import Layout as Layout
