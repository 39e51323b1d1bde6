export * from '../../../../lib/text/amounts.js';
