export * from '../../../issues/describe-issue.js';
