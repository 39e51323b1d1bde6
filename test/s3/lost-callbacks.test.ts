import { describeLostCallbacks } from '../support/lost-callbacks.js';
import { openRealBucket } from '../support/real-s3.js';

describeLostCallbacks('a real S3 server', () => openRealBucket());
