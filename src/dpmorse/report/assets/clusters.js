// Clusters of every cut: their colours, which are those of their numbers everywhere, and the row of released numbers of each.

const parts = data.components;
const nColumns = data.columns.length;
const nParts = parts.weights.length;
const withWeight = [...parts.weights.keys()].filter((i) => parts.weights[i] > 0);

// Without a profile nothing is said of clusters but their numbers.
const {measured} = data.numbers;
const NOTHING_SAID = {supported: true, notes: {}, traits: [], n_traits: 0, noise: null};
const rows = data.numbers.rows.map((row) => ({...NOTHING_SAID, ...row}));
const whole = rows[data.nodes[0][0]];

function clustersAt(k) {
  const labels = data.cuts[k - 1], nodes = data.nodes[k - 1];
  const clusters = nodes.map((node, number) => {
    const row = rows[node], members = withWeight.filter((i) => labels[i] === number);
    return {number, colour: number, row, members, share: row.share[0],
            separation: members.length ? data.separation[node] : null};
  });
  return {k, labels, clusters, colourOf: (place) => labels[place]};
}

// The size of a cluster as its sentence has it.
const OF_RECORDS = " of the records";
const clusterSize = ({row}) => (row.said.includes(OF_RECORDS) ? row.said.split(OF_RECORDS)[0] : "100\u00a0%");

const mayBeNoise = (cluster) => !cluster.row.supported;

// Numbers are [value, low, high, decimals], or null where noise hides them; of a column q1, median and q3.
const valueOf = (number) => (number === null ? null : number[0]);
const medianOf = (row, column) => valueOf(row.numbers[column][1]);
