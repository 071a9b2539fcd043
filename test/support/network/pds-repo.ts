/** `com.atproto.repo` of the fake PDS. */
import { lex, type PdsCheck } from './pds-check.ts'
import { cidOf } from './pds-cid.ts'
import { isKnownCollection, wrongWith } from './pds-lexicon.ts'
import {
  activeAccount,
  invalidRequest,
  noAppView,
  writingAccount,
  type XrpcCall,
  type XrpcMethod,
} from './pds-methods.ts'
import { type PdsHeldAccount, XrpcError } from './pds-world.ts'

const {
  atIdentifier,
  boolean,
  cid,
  integer,
  isObject,
  nsid,
  nullable,
  object,
  plain,
  recordKey,
  flag,
  text,
} = lex

interface Write {
  repo: string
  collection: string
  rkey: string
  record: Record<string, unknown>
  validate?: boolean
  swapRecord?: string | null
  swapCommit?: string | null
}

const BACKLINKED = ['app.bsky.feed.like', 'app.bsky.feed.repost', 'app.bsky.graph.follow']

const record: PdsCheck = (value, path) => object({})(value, path) ?? plain(value, path)

const typed = ({ collection, rkey, record: given, validate }: Write) => {
  const value = given.$type === undefined ? { ...given, $type: collection } : given
  if (validate === true && !isKnownCollection(collection))
    throw invalidRequest(`Unknown lexicon type: ${collection}`)
  const wrong = wrongWith({ collection, rkey, record: value })
  if (wrong && validate !== false) throw invalidRequest(wrong)
  return { value, cid: cidOf(value) }
}

const swap = (what: string, at: string | undefined, wanted: string | null | undefined): void => {
  if (wanted === undefined || (wanted ?? undefined) === at) return
  throw new XrpcError(400, 'InvalidSwap', `${what} was at ${at ?? 'null'}`)
}

const answerOf = (uri: string, cidOfIt: string, collection: string, commit?: object) => ({
  uri,
  cid: cidOfIt,
  ...(commit ? { commit } : {}),
  validationStatus: isKnownCollection(collection) ? 'valid' : 'unknown',
})

const put = (
  { world }: XrpcCall,
  account: PdsHeldAccount,
  { collection, rkey }: Write,
  made: { cid: string; value: Record<string, unknown> },
): { cid: string; rev: string } => {
  const uri = `at://${account.did}/${collection}/${rkey}`
  const indexedAt = new Date(world.now()).toISOString()
  return world.commit(account, () =>
    account.records.set(`${collection}/${rkey}`, { uri, indexedAt, ...made }),
  )
}

const putRecord = (call: XrpcCall) => {
  const write = call.input as unknown as Write
  const account = writingAccount(call, write.repo)
  const made = typed(write)
  const { collection, rkey } = write
  const uri = `at://${account.did}/${collection}/${rkey}`
  const current = account.records.get(`${collection}/${rkey}`)
  if (current?.cid === made.cid) return answerOf(uri, made.cid, collection)
  swap('Commit', account.head.cid, write.swapCommit ?? undefined)
  swap('Record', current?.cid, write.swapRecord)
  return answerOf(uri, made.cid, collection, put(call, account, write, made))
}

const subjectOf = (value: Record<string, unknown>): unknown =>
  isObject(value.subject) ? value.subject.uri : value.subject

/** A like, repost or follow of the same takes the place of an earlier one, but only here. */
const withdrawEarlier = (account: PdsHeldAccount, { collection, record: made }: Write): void => {
  if (!BACKLINKED.includes(collection)) return
  for (const [key, { value }] of account.records)
    if (key.startsWith(`${collection}/`) && subjectOf(value) === subjectOf(made))
      account.records.delete(key)
}

const createRecord = (call: XrpcCall) => {
  const given = call.input as unknown as Write
  const account = writingAccount(call, given.repo)
  const write = { ...given, rkey: given.rkey ?? call.world.tid() }
  const made = typed(write)
  if (account.records.has(`${write.collection}/${write.rkey}`))
    throw new XrpcError(500, 'InternalServerError', 'Internal Server Error')
  swap('Commit', account.head.cid, write.swapCommit ?? undefined)
  withdrawEarlier(account, write)
  const uri = `at://${account.did}/${write.collection}/${write.rkey}`
  return answerOf(uri, made.cid, write.collection, put(call, account, write, made))
}

const deleteRecord = (call: XrpcCall) => {
  const { repo, collection, rkey, swapRecord, swapCommit } = call.input as unknown as Write
  const account = writingAccount(call, repo)
  const current = account.records.get(`${collection}/${rkey}`)
  if (!current) return {}
  swap('Commit', account.head.cid, swapCommit ?? undefined)
  swap('Record', current.cid, swapRecord ?? undefined)
  const commit = call.world.commit(account, () => account.records.delete(`${collection}/${rkey}`))
  return { commit }
}

const getRecord = ({ world, input }: XrpcCall) => {
  const { repo, collection, rkey } = input as Record<string, string>
  const account = activeAccount(world, repo!)
  if (!account && !world.hasAppView) throw noAppView()
  const uri = `at://${account?.did ?? repo}/${collection}/${rkey}`
  const found = account?.records.get(`${collection}/${rkey}`)
  if (!found || (input.cid !== undefined && found.cid !== input.cid))
    throw new XrpcError(400, 'RecordNotFound', `Could not locate record: ${uri}`)
  return { uri, cid: found.cid, value: found.value }
}

/** Sorted by key, the greatest first. */
const listRecords = ({ world, input }: XrpcCall) => {
  const { repo, collection, cursor, reverse } = input as Record<string, string>
  const account = activeAccount(world, repo!)
  if (!account) throw invalidRequest(`Could not find repo: ${repo}`)
  const keys = [...account.records.keys()]
    .filter((key) => key.startsWith(`${collection}/`))
    .map((key) => key.slice(collection!.length + 1))
    .sort()
  const sorted = reverse === 'true' ? keys : keys.reverse()
  const isAfter = (key: string) => (reverse === 'true' ? key > cursor! : key < cursor!)
  const page = sorted.filter((key) => !cursor || isAfter(key)).slice(0, Number(input.limit ?? 50))
  const records = page.map((key) => {
    const { uri, cid: held, value } = account.records.get(`${collection}/${key}`)!
    return { uri, cid: held, value }
  })
  return page.length > 0 ? { records, cursor: page.at(-1) } : { records }
}

const written = { repo: atIdentifier, collection: nsid, 'validate?': boolean, record }
const swaps = { 'swapCommit?': nullable(cid) }

export const repoMethods: Record<string, XrpcMethod> = {
  'com.atproto.repo.putRecord': {
    verb: 'POST',
    auth: 'access',
    input: object({ ...written, rkey: recordKey, 'swapRecord?': nullable(cid), ...swaps }),
    run: putRecord,
  },
  'com.atproto.repo.createRecord': {
    verb: 'POST',
    auth: 'access',
    input: object({ ...written, 'rkey?': recordKey, ...swaps }),
    run: createRecord,
  },
  'com.atproto.repo.deleteRecord': {
    verb: 'POST',
    auth: 'access',
    input: object({
      repo: atIdentifier,
      collection: nsid,
      rkey: recordKey,
      'swapRecord?': cid,
      'swapCommit?': cid,
    }),
    run: deleteRecord,
  },
  'com.atproto.repo.getRecord': {
    verb: 'GET',
    input: object({ repo: atIdentifier, collection: nsid, rkey: recordKey, 'cid?': cid }),
    run: getRecord,
  },
  'com.atproto.repo.listRecords': {
    verb: 'GET',
    input: object({
      repo: atIdentifier,
      collection: nsid,
      'limit?': integer(1, 100),
      'cursor?': text(),
      'reverse?': flag,
    }),
    run: listRecords,
  },
  'com.atproto.sync.getLatestCommit': {
    verb: 'GET',
    input: object({ did: atIdentifier }),
    run: ({ world, input }) => {
      const account = activeAccount(world, input.did as string)
      if (account) return account.head
      throw new XrpcError(400, 'RepoNotFound', `Could not find repo for DID: ${input.did}`)
    },
  },
}
