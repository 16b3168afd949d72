from dpmorse.profiles.profile import Profile as Profile
from dpmorse.profiles.table import ClusterTable as ClusterTable
from dpmorse.profiles.table import Estimate as Estimate
from dpmorse.profiles.table import cluster_table as cluster_table
