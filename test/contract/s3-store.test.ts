import { openStandInPlace } from '../support/stand-in-store.js';
import { describeObjectStore } from './object-store.js';

describeObjectStore('the S3 store before a stand-in', () => openStandInPlace());
