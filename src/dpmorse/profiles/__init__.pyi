from dpmorse.profiles.cautions import Caution as Caution
from dpmorse.profiles.cautions import cautions_of as cautions_of
from dpmorse.profiles.frames import columns_of as columns_of
from dpmorse.profiles.frames import to_frame as to_frame
from dpmorse.profiles.profile import Profile as Profile
from dpmorse.profiles.table import ClusterTable as ClusterTable
from dpmorse.profiles.table import Estimate as Estimate
from dpmorse.profiles.table import cluster_table as cluster_table
