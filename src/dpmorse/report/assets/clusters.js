// Clusters of every cut: their colours, and the row of released numbers of each.

const parts = data.components;
const nColumns = data.columns.length;
const nParts = parts.weights.length;
const withWeight = [...parts.weights.keys()].filter((i) => parts.weights[i] > 0);

// Cutting deeper splits one cluster in two: the heavier part keeps the colour, the other gets the next.
const coloursOfCuts = (() => {
  const cuts = [[0]];
  for (let k = 2; k <= data.cuts.length; k++) {
    const parents = parentsOf(data.cuts[k - 1], data.cuts[k - 2], k);
    const taken = new Set();
    cuts.push(parents.map((parent) => {
      const first = !taken.has(parent); // clusters come heaviest first
      taken.add(parent);
      return first ? cuts[k - 2][parent] : k - 1;
    }));
  }
  return cuts;
})();

function parentsOf(labels, coarser, k) {
  const parents = new Array(k).fill(0);
  labels.forEach((label, i) => { parents[label] = coarser[i]; });
  return parents;
}

// Without a profile nothing is said of clusters but their numbers.
const {measured} = data.numbers;
const NOTHING_SAID = {supported: true, notes: {}, traits: [], n_traits: 0, noise: null};
const rows = data.numbers.rows.map((row) => ({...NOTHING_SAID, ...row}));
const whole = rows[data.nodes[0][0]];

function clustersAt(k) {
  const labels = data.cuts[k - 1], nodes = data.nodes[k - 1];
  const clusters = coloursOfCuts[k - 1].map((colour, number) => {
    const row = rows[nodes[number]], members = withWeight.filter((i) => labels[i] === number);
    return {number, colour, row, members, share: row.share[0],
            separation: members.length ? data.separation[nodes[number]] : null};
  });
  return {k, labels, clusters, colourOf: (place) => coloursOfCuts[k - 1][labels[place]]};
}

const mayBeNoise = (cluster) => !cluster.row.supported;

// Numbers are [value, low, high, decimals], or null where noise hides them; of a column q1, median and q3.
const valueOf = (number) => (number === null ? null : number[0]);
const medianOf = (row, column) => valueOf(row.numbers[column][1]);
