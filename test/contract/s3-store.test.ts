import { openStandInPlace } from '../support/store/stand-in-store.js';
import { describeObjectStore } from './object-store.js';

const PAGE = 100;

async function openStandIn() {
  const place = await openStandInPlace();
  place.standIn.state.page = PAGE;
  return place;
}

describeObjectStore('the S3 store before a stand-in', openStandIn, 2 * PAGE + 15);
