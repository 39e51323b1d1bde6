import { describeS3Faults } from '../support/s3-faults.js';
import { openStandInPlace } from '../support/stand-in-store.js';

describeS3Faults('a stand-in', () => openStandInPlace());
