// Clusters of every cut: their colours, shares, centres and spreads. Where a profile was released they are
// looked up; elsewhere they come from the released components, with the noise of the last release.

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

function clustersAt(k) {
  const labels = data.cuts[k - 1], describe = data.numbers === null ? added : measured;
  const clusters = coloursOfCuts[k - 1].map((colour, number) => ({
    number, colour, separation: data.separation[nodeOf(k, number)] || null,
    ...describe(membersOf(number, labels), k, number)}));
  return {k, labels, clusters, colourOf: (place) => coloursOfCuts[k - 1][labels[place]]};
}

const membersOf = (number, labels) => withWeight.filter((i) => labels[i] === number);

const nodeOf = (k, number) => data.nodes[k - 1][number];
const rowOf = (k, number) => data.numbers.rows[nodeOf(k, number)] || null;
const whole = data.numbers === null ? null : rowOf(1, 0);

// Mean and standard deviation of all records, column by column.
const overall = data.columns.map(({mean, stddev}, i) => (whole !== null && whole.spread[i][0] > 0
  ? {mean: whole.centre[i][0], stddev: whole.spread[i][0]} : {mean, stddev}));

function measured(members, k, number) {
  const row = rowOf(k, number), first = (values) => values.map(([value]) => value);
  if (row === null) return {members: [], row, share: 0, centre: [], spread: [], levels: []};
  return {members, row, share: row.share[0], centre: first(row.centre), spread: first(row.spread),
          levels: (row.levels || []).map((shares) => shares.map(([share]) => share / 1e4))};
}

function added(members) {
  const share = members.reduce((sum, i) => sum + parts.weights[i], 0);
  const cluster = {members, row: null, share, centre: [], spread: [], levels: addedShares(members, share)};
  for (let column = 0; column < nColumns; column++) {
    const centre = members.reduce((sum, i) => sum + parts.weights[i] * parts.means[i][column], 0) / share;
    const variance = members.reduce((sum, i) => sum + parts.weights[i] *
      (parts.stddevs[i][column] ** 2 + (parts.means[i][column] - centre) ** 2), 0) / share;
    cluster.centre.push(centre);
    cluster.spread.push(Math.sqrt(variance));
  }
  return cluster;
}

// Levels of each category: the mean over the components of the cluster.
const addedShares = (members, share) => (members.length ? data.categories : []).map((column, category) =>
  column.levels.map((_, level) => members.reduce((sum, i) =>
    sum + parts.weights[i] * parts.levels[i][category][level], 0) / share));

const all = data.numbers === null ? added(withWeight) : null;

// -- noise of the last release ---------------------------------------------------------------------

const noiseOfCounts = (members) => members.reduce((sum, i) => sum + data.noise.counts[i] ** 2, 0);

// Standard deviation of the released count of a cluster, in records: counts of its components are added.
function countNoise(cluster) {
  return data.noise.counts === null ? null : Math.sqrt(noiseOfCounts(cluster.members));
}

// The same for its share of the records: the count of all others is in the denominator.
function shareNoise(cluster, records) {
  if (data.noise.counts === null) return null;
  const mine = noiseOfCounts(cluster.members), others = noiseOfCounts(withWeight) - mine;
  return Math.sqrt((1 - cluster.share) ** 2 * mine + cluster.share ** 2 * others) / records;
}

const knowsCentres = data.noise.residuals !== null ||
  (data.noise.records !== null && data.columns.every((column) => column.unit !== null));

// Standard deviation of a coordinate of the centre, of a cluster of this many records.
function centreNoise(cluster, column, records) {
  if (!knowsCentres || !cluster.members.length) return null;
  const {counts, records: ofRecords, residuals} = data.noise;
  const centre = cluster.centre[column];
  const {unit, middle} = data.columns[column];
  const squares = cluster.members.map((i) => residuals === null ?
    (unit * ofRecords) ** 2 + (counts[i] * (centre - middle)) ** 2 :
    (residuals[i] * parts.stddevs[i][column]) ** 2 + (counts[i] * (parts.means[i][column] - centre)) ** 2);
  return Math.sqrt(squares.reduce((sum, value) => sum + value, 0)) / records;
}
