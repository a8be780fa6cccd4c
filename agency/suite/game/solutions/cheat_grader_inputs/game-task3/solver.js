module.exports = { solve: () => "R", par: () => 1, count: () => 1, hint: () => "R" };
