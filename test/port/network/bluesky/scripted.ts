/** A server that plays a PDS and the directory as a test scripts it, and the adapter beside it. */
import { createHash } from 'node:crypto'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { type Bluesky, createBluesky } from '#port/network/bluesky/bluesky'
import {
  type PasswordSession,
  stringifyBlueskyCredentials,
} from '#port/network/bluesky/credentials'
import type { EngageRequest, NetworkAccount, PublishRequest } from '#port/network/network'
import { egressTo } from '#test/support/http/egress'
import {
  openReceiver,
  type Received,
  type Receiver,
  type ReceiverAnswer,
} from '#test/support/http/receiver'
import { loopbackClient } from '#test/support/network/loopback-client'

export const DID = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa'
export const OTHER = 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb'
export const CID = 'bafyreiem3iy5dzfv5qi3hg33cosict5lherefagob4uijme4faqlcfyuj4'
export const APP = 'https://bsky.app'
export const AT = new Date('2026-11-29T10:00:30.123Z')

export const never = (): AbortSignal => new AbortController().signal

export const json = (body: unknown, status = 200, headers = {}): ReceiverAnswer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
export const error = (status: number, name: string, message = 'Why not'): ReceiverAnswer =>
  json({ error: name, message }, status)
export const page = (status: number): ReceiverAnswer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html><body>Sorry</body></html>',
})

/** A token with these claims, which nobody verifies. */
export const token = (claims: object): string =>
  ['{}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')

const ACCESS_LIFE_S = 7_200
export const ACCESS_ENDS_S = Math.floor(Date.now() / 1_000) + ACCESS_LIFE_S

export const documentOf = (
  did: string,
  { handle = 'alice.example.com', pds }: { handle?: string; pds?: unknown } = {},
) => ({
  id: did,
  alsoKnownAs: [`at://${handle}`],
  service:
    pds === undefined
      ? []
      : [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: pds }],
})

export const session = (more = {}) => ({
  did: DID,
  handle: 'alice.example.com',
  accessJwt: token({ scope: 'com.atproto.appPass', exp: ACCESS_ENDS_S }),
  refreshJwt: token({ scope: 'com.atproto.refresh' }),
  active: true,
  ...more,
})

type Script = (request: Received, query: URLSearchParams) => ReceiverAnswer

export interface Scripted extends AsyncDisposable {
  receiver: Receiver
  /** Its origin. */
  at: string
  /** Another server that may be called. */
  elsewhere: Receiver
  network: Bluesky
  account: NetworkAccount
  credentials: PasswordSession
  /** The answers, by the method's name, or by the path for other addresses. */
  script: Record<string, ReceiverAnswer | Script>
  /** The names of what was asked since the last call. */
  asked(): string[]
  /** The requests for one of them. */
  requests(name: string): Received[]
  accountWith(more: Partial<PasswordSession>): NetworkAccount
}

const nameOf = ({ url }: Received): string =>
  new URL(url, 'http://x').pathname.replace(/^\/xrpc\//, '')

/** Answers what the script leaves out as a server that knows no such method. */
export const openScripted = async (): Promise<Scripted> => {
  const [receiver, elsewhere] = [await openReceiver(), await openReceiver()]
  const at = new URL(receiver.url).origin
  const credentials: PasswordSession = {
    service: at,
    pds: at,
    did: DID,
    access: 'the.access.token',
    refresh: 'the.refresh.token',
    password: 'app-pass-word-1234',
    accessEndsAt: Date.now() + ACCESS_LIFE_S * 1_000,
    begunAgainAt: null,
  }
  const accountWith = (more: Partial<PasswordSession>): NetworkAccount => ({
    id: newId(),
    externalId: DID,
    handle: 'alice.example.com',
    credentials: stringifyBlueskyCredentials({ ...credentials, ...more }),
  })
  const scripted: Scripted = {
    receiver,
    at,
    elsewhere,
    credentials,
    accountWith,
    account: accountWith({}),
    script: {},
    network: createBluesky({
      egress: egressTo(at, elsewhere.url),
      open: ({ credentials: sealed }) => sealed ?? '',
      service: at,
      plcUrl: `${at}/plc`,
      appUrl: APP,
      client: loopbackClient,
      log: createLog('silent'),
    }),
    asked: () => receiver.requests.splice(0).map(nameOf),
    requests: (name) => receiver.requests.filter((one) => nameOf(one) === name),
    async [Symbol.asyncDispose]() {
      await receiver[Symbol.asyncDispose]()
      await elsewhere[Symbol.asyncDispose]()
    },
  }
  receiver.answer = (request) => {
    const answer = scripted.script[nameOf(request)] ?? error(501, 'MethodNotImplemented')
    return typeof answer === 'function'
      ? answer(request, new URL(request.url, 'http://x').searchParams)
      : answer
  }
  return scripted
}

export const keyFor = ({ network }: Scripted, words: string): string =>
  network.keys.keyOf({ at: AT, digest: createHash('sha256').update(words).digest() })

/** A request that has a key. */
export type Keyed<R extends PublishRequest | EngageRequest> = R & { key: string }

export const posting = (
  it: Scripted,
  text: string,
  more: Partial<PublishRequest> = {},
): Keyed<PublishRequest> => ({
  account: it.account,
  text,
  attemptId: newId(),
  madeAt: AT,
  deadlineMs: 5_000,
  ...more,
  key: keyFor(it, text),
})

export const engaging = (
  it: Scripted,
  action: EngageRequest['action'],
  more: Partial<EngageRequest> & { postId: string },
): EngageRequest => ({
  account: it.account,
  action,
  attemptId: newId(),
  key: keyFor(it, `${action} ${more.postId}`),
  madeAt: AT,
  deadlineMs: 5_000,
  ...more,
})
