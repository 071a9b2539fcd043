/**
 * Plays a PDS 0.5.35 and the directory of DIDs, in memory, on ports of the loopback. It answers as
 * the real one does: `npm run network:bluesky` asks both by the same suite, test/cases/pds.ts. The
 * AppView is written from its lexicons; without it, what asks for it gets the PDS's 502.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { appViewMethods } from './pds-appview.ts'
import {
  answerInstead,
  isCarriedOut,
  jsonAnswer,
  type PdsAnswer,
  type PdsFault,
  type PdsFaultScope,
  PdsFaults,
} from './pds-faults.ts'
import { type PdsLimitSizes, PdsLimits } from './pds-limits.ts'
import type { PdsOauth } from './pds-oauth.ts'
import { repoMethods } from './pds-repo.ts'
import { sessionMethods } from './pds-sessions.ts'
import {
  didDocument,
  type PdsHeldRecord,
  type PdsSession,
  type PdsStatus,
  PdsWorld,
} from './pds-world.ts'
import { type XrpcAnswering, xrpc } from './pds-xrpc.ts'

export interface PdsAccount {
  did: string
  handle: string
  /** The account's own. */
  password: string
  appPassword: string
}

export interface FakePds extends AsyncDisposable {
  url: string
  /** The directory of DIDs. */
  plcUrl: string
  /** What tokens are signed with. */
  secret: string
  /** What was asked, as `POST com.atproto.repo.putRecord`; at the directory, `GET did:plc:…`. */
  requests: string[]
  /** Switches the AppView on and off. */
  appView: boolean
  /** Made where there is none of this handle yet. */
  account(handle: string, given?: { did?: string }): PdsAccount
  /** The records of the repository, oldest key first. */
  records(did: string, collection?: string): PdsHeldRecord[]
  /** How often the records of the repository have changed. */
  commits(did: string): number
  /** A method's name, `*` for all of them, or `plc` for the directory. */
  fail(method: string, fault: PdsFault, scope?: PdsFaultScope): void
  /** Ends all faults. */
  heal(): void
  expireAccess(): void
  /** How long access tokens that are made from now on are taken, whatever they say. */
  accessMs: number
  /** The sessions that were begun and renewed, in their order. */
  sessions: readonly PdsSession[]
  /** The authorization server, whose methods for faults have their paths as names. */
  oauth: PdsOauth
  /** Lets no refresh token of the account renew anything; its passwords stay. */
  endSessions(did: string): void
  /** Turns the server's clock on. */
  advance(ms: number): void
  /** Revokes the app password that `account` gave. */
  revoke(did: string): void
  setStatus(did: string, status: PdsStatus): void
  /** What the directory answers for this DID; undefined is what it would answer by itself. */
  setDocument(did: string, document: unknown): void
  /** Lets the directory say that this account's PDS is another. */
  move(did: string, endpoint: string): void
}

export interface PdsOptions {
  appView?: boolean
  port?: number
  plcPort?: number
  /** Without them, nothing is limited; what they leave out is as large as at a PDS. */
  limits?: Partial<PdsLimitSizes>
  /** Numbers in [0, 1), which decide about faults of a share. */
  random?: () => number
}

const APP_PASSWORD = 'tendril'
const CHUNK = 'x'.repeat(65_536)

const bodyOf = async (incoming: IncomingMessage): Promise<string> =>
  Buffer.concat(await Array.fromAsync(incoming)).toString()

const htmlAnswer = (status: number, body: string): PdsAnswer => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body,
})

/** Writes as fast as it is read, until the other side goes. */
const writeForEver = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
  const more = () => {
    while (!response.destroyed && response.write(CHUNK));
  }
  response.on('drain', more)
  more()
}

const give = (response: ServerResponse, { status, headers, body }: PdsAnswer): void => {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

interface Listening {
  url: string
  close(): void
}

type Answering = (incoming: IncomingMessage, body: string) => PdsAnswer

/** A server whose requests go wrong as the faults say. */
const listen = async (
  port: number,
  answer: Answering,
  faultOf: (incoming: IncomingMessage) => PdsFault | undefined,
  now: () => number,
): Promise<Listening> => {
  const sockets = new Set<Socket>()
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming)
    const fault = faultOf(incoming)
    if (fault === 'hang') return
    if (fault === 'away') return void incoming.socket.destroy()
    if (fault === 'endless') return writeForEver(response)
    if (typeof fault === 'object' && 'slowMs' in fault) await Bun.sleep(fault.slowMs)
    const own = isCarriedOut(fault) ? answer(incoming, body) : undefined
    if (fault === 'silent') return
    if (fault === 'lost') return void incoming.socket.destroy()
    give(response, answerInstead(fault, now()) ?? own!)
  }
  const server = createServer(
    (incoming, response) => void serve(incoming, response).catch(() => response.destroy()),
  )
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

const methodOf = ({ url = '' }: IncomingMessage): string =>
  new URL(url, 'http://pds').pathname.replace('/xrpc/', '')

const METHODS = { ...sessionMethods, ...repoMethods, ...appViewMethods }

const answerOfPds =
  (world: PdsWorld, urlOf: () => string, limits: PdsLimits | undefined): Answering =>
  (incoming, body) => {
    const { pathname } = new URL(incoming.url!, 'http://pds')
    if (pathname === '/xrpc/_health') return jsonAnswer(200, { version: '0.5.35' })
    if (pathname.startsWith('/xrpc/')) {
      const answering: XrpcAnswering = { world, url: urlOf(), methods: METHODS, limits }
      return xrpc(answering, methodOf(incoming), incoming, body)
    }
    const byOauth = world.oauth.answer(incoming, body)
    if (byOauth) return byOauth
    if (pathname !== '/.well-known/atproto-did')
      return htmlAnswer(404, `<pre>Cannot ${incoming.method} ${pathname}</pre>`)
    const account = world.find((incoming.headers.host ?? '').split(':')[0]!)
    if (account?.status !== 'active') return htmlAnswer(404, 'User not found')
    const headers = { 'content-type': 'text/plain; charset=utf-8' }
    return { status: 200, headers, body: account.did }
  }

const didOf = ({ url = '' }: IncomingMessage): string => decodeURIComponent(url.slice(1))

const answerOfPlc =
  (world: PdsWorld, urlOf: () => string): Answering =>
  (incoming) => {
    const did = didOf(incoming)
    if (incoming.method !== 'GET' || did === '')
      return htmlAnswer(404, `<pre>Cannot ${incoming.method} ${incoming.url}</pre>`)
    const document = world.documentOf(did, urlOf())
    if (document === undefined) return jsonAnswer(404, { message: `DID not registered: ${did}` })
    const answer = jsonAnswer(200, document)
    answer.headers['content-type'] = 'application/did+ld+json; charset=utf-8'
    return answer
  }

const accountOf = (world: PdsWorld, handle: string, { did }: { did?: string } = {}): PdsAccount => {
  const found = world.find(handle)
  const email = `${handle}@mail.test`
  const account = found ?? world.add({ handle, email, password: `own password of ${handle}`, did })
  const made = account.appPasswords.get(APP_PASSWORD)
  const appPassword = made ?? world.addAppPassword(account, APP_PASSWORD, false)
  return {
    did: account.did,
    handle: account.handle,
    password: account.password,
    appPassword: appPassword.password,
  }
}

export const openPds = async (options: PdsOptions = {}): Promise<FakePds> => {
  const { appView = false, port = 0, plcPort = 0, random = Math.random } = options
  const world = new PdsWorld(appView, () => pds.url)
  const [faults, requests] = [new PdsFaults(random), [] as string[]]
  const now = () => world.now()
  const limits = options.limits && new PdsLimits(options.limits)
  const held = (did: string) => {
    const account = world.accounts.get(did)
    if (account) return account
    throw new Error(`the fake PDS has no account ${did}`)
  }
  const urlOf = () => pds.url
  const fault = (named: string) => (incoming: IncomingMessage) => {
    const name = named === 'plc' ? didOf(incoming) : methodOf(incoming)
    requests.push(`${incoming.method} ${name}`)
    return faults.take(named === 'plc' ? 'plc' : name)
  }
  const pds = await listen(port, answerOfPds(world, urlOf, limits), fault('pds'), now)
  const plc = await listen(plcPort, answerOfPlc(world, urlOf), fault('plc'), now)
  return {
    url: pds.url,
    plcUrl: plc.url,
    secret: world.secret,
    requests,
    get appView() {
      return world.hasAppView
    },
    set appView(isOn: boolean) {
      world.hasAppView = isOn
    },
    account: (handle, given) => accountOf(world, handle, given),
    records: (did, collection) =>
      [...held(did).records]
        .filter(([key]) => !collection || key.startsWith(`${collection}/`))
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([, record]) => record),
    commits: (did) => held(did).commits,
    fail: (method, what, scope) => faults.add(method, what, scope),
    heal: () => faults.clear(),
    expireAccess: () => world.expireAccess(),
    get accessMs() {
      return world.accessMs
    },
    set accessMs(ms: number) {
      world.accessMs = ms
    },
    sessions: world.sessions,
    oauth: world.oauth,
    endSessions: (did) => world.endSessions(held(did)),
    advance: (ms) => world.advance(ms),
    revoke: (did) => world.revokeAppPassword(held(did), APP_PASSWORD),
    setStatus: (did, status) => world.setStatus(held(did), status),
    setDocument: (did, document) => {
      if (document === undefined) world.documents.delete(did)
      else world.documents.set(did, document)
    },
    move: (did, endpoint) => world.documents.set(did, didDocument(held(did), endpoint)),
    [Symbol.asyncDispose]: async () => {
      pds.close()
      plc.close()
    },
  }
}
