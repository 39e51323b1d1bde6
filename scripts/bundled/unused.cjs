// Stands for a package that nothing calls. A call fails at once, as of something that is not a function.
module.exports = {};
