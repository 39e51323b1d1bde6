import { describeObjectStore } from '../contract/object-store.js';
import { itKeepsProcessesApart } from '../contract/process-race.js';
import { openRealBucket } from '../support/store/real-s3.js';

describeObjectStore('a real S3 server', () => openRealBucket());
itKeepsProcessesApart('a real S3 server', () => openRealBucket());
