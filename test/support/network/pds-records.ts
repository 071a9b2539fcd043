/** Requests that write and read records, as the suite of a PDS makes them. */
import {
  callPds,
  type PdsCall,
  type PdsCase,
  type PdsUser,
  refusedBy,
} from '#test/support/network/pds-client'

const POST = 'app.bsky.feed.post'
const LIKE = 'app.bsky.feed.like'
const KEY = '3kabcdefghijk'
const CREATED_AT = '2026-11-29T10:00:00.000Z'

const recordOf = (text: unknown, more = {}) => ({
  $type: POST,
  text,
  createdAt: CREATED_AT,
  ...more,
})

const repo = (it: PdsCase, method: string, given: PdsCall) =>
  callPds(it, `com.atproto.repo.${method}`, given)

/** As Tendril writes a post: a new key, or the same bytes again. */
const put = (it: PdsCase, user: PdsUser, record: unknown, more = {}) =>
  repo(it, 'putRecord', {
    body: { repo: user.did, collection: POST, rkey: KEY, swapRecord: null, record, ...more },
    token: user.accessJwt,
  })

const get = (it: PdsCase, user: PdsUser, more = {}) =>
  repo(it, 'getRecord', { query: { repo: user.did, collection: POST, rkey: KEY, ...more } })

const list = (it: PdsCase, user: PdsUser, more = {}) =>
  repo(it, 'listRecords', { query: { repo: user.did, collection: POST, ...more } })

const keysOf = (body: { records: { uri: string }[] }) =>
  body.records.map(({ uri }) => uri.split('/').at(-1))

const invalid = (message: string) => refusedBy(400, 'InvalidRequest', message)

/** For the files of the suite. */
export const pdsRecords = {
  POST,
  LIKE,
  KEY,
  CREATED_AT,
  recordOf,
  repo,
  put,
  get,
  list,
  keysOf,
  invalid,
}
