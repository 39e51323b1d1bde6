export * from '../../../../lib/text/plural.js';
