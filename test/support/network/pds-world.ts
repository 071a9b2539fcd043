/** What a PDS of the tests holds: accounts, their sessions, and their repositories. */
import { createHmac, randomBytes } from 'node:crypto'
import { base32Letters, cidOf, tidAt } from './pds-cid.ts'
import { PdsOauth } from './pds-oauth.ts'

export type PdsStatus = 'active' | 'takendown' | 'deactivated'

export interface PdsHeldRecord {
  uri: string
  cid: string
  value: Record<string, unknown>
  /** When it was written, which no client can choose. */
  indexedAt: string
}

export interface PdsHeldAccount {
  did: string
  handle: string
  email: string
  password: string
  status: PdsStatus
  createdAt: string
  /** By their names. */
  appPasswords: Map<string, { password: string; privileged: boolean; createdAt: string }>
  /** By `collection/key`. */
  records: Map<string, PdsHeldRecord>
  /** How many changes of records there were. */
  commits: number
  head: { cid: string; rev: string }
}

export interface NewPdsAccount {
  handle: string
  email: string
  password: string
  /** Of an account that has moved here. */
  did?: string
}

/** A session that was begun, or renewed with a token. */
export interface PdsSession {
  did: string
  /** The id of the refresh token that was sent; null: it was begun with a password. */
  sent: string | null
  /** The id of the refresh token that was given; undefined: it was refused. */
  given: string | undefined
  /** By the real clock, in milliseconds since 1970. */
  at: number
}

interface Refresh {
  did: string
  appPassword: string | null
  expiresAt: number
  nextId: string | null
}

export interface PdsClaims {
  scope: string
  aud: string
  sub: string
  iat: number
  exp: number
  jti?: string
}

export class XrpcError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

export const SERVICE_DID = 'did:web:localhost'
const ACCESS_SECONDS = 7_200
const REFRESH_SECONDS = 90 * 86_400
const GRACE_MS = 7_200_000

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token as a PDS signs it. */
export const signPdsToken = (secret: string, typ: string, claims: PdsClaims): string => {
  const signed = `${part({ typ, alg: 'HS256' })}.${part(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

export class PdsWorld {
  readonly accounts = new Map<string, PdsHeldAccount>()
  readonly secret = base32Letters(32)
  /** Where the directory says an account is, if not here. */
  readonly documents = new Map<string, unknown>()
  private readonly refreshes = new Map<string, Refresh>()
  /** What was asked of `createSession` and `refreshSession`, in that order. */
  readonly sessions: PdsSession[] = []
  /** How long the server takes an access token, whatever the token says. */
  accessMs = ACCESS_SECONDS * 1_000
  /** When the server no longer takes a token, by its id. */
  private readonly access = new Map<string, number>()
  readonly oauth: PdsOauth
  private skewMs = 0
  private count = 0

  /** `url`: where the PDS is. */
  constructor(
    public hasAppView: boolean,
    url: () => string,
  ) {
    this.oauth = new PdsOauth(url, () => this.now())
  }

  now(): number {
    return Date.now() + this.skewMs
  }

  advance(ms: number): void {
    this.skewMs += ms
  }

  tid(): string {
    this.count = (this.count + 1) % 1_024
    return tidAt(this.now(), this.count)
  }

  find(didOrHandle: string): PdsHeldAccount | undefined {
    const name = didOrHandle.toLowerCase()
    return (
      this.accounts.get(didOrHandle) ??
      [...this.accounts.values()].find(({ handle, email }) => handle === name || email === name)
    )
  }

  add({ handle, email, password, did }: NewPdsAccount): PdsHeldAccount {
    const account: PdsHeldAccount = {
      did: did ?? `did:plc:${base32Letters(24)}`,
      handle: handle.toLowerCase(),
      email: email.toLowerCase(),
      password,
      status: 'active',
      createdAt: new Date(this.now()).toISOString(),
      appPasswords: new Map(),
      records: new Map(),
      commits: 0,
      head: { cid: cidOf(handle), rev: this.tid() },
    }
    this.accounts.set(account.did, account)
    return account
  }

  addAppPassword(account: PdsHeldAccount, name: string, privileged: boolean) {
    const made = {
      password: base32Letters(16).match(/.{4}/g)!.join('-'),
      privileged,
      createdAt: new Date(this.now()).toISOString(),
    }
    account.appPasswords.set(name, made)
    return made
  }

  revokeAppPassword(account: PdsHeldAccount, name: string): void {
    account.appPasswords.delete(name)
    for (const [id, { did, appPassword }] of this.refreshes)
      if (did === account.did && appPassword === name) this.refreshes.delete(id)
  }

  endSessions(account: PdsHeldAccount): void {
    for (const [id, { did }] of this.refreshes) if (did === account.did) this.refreshes.delete(id)
  }

  setStatus(account: PdsHeldAccount, status: PdsStatus): void {
    account.status = status
    if (status === 'takendown') this.endSessions(account)
  }

  private tokens(account: PdsHeldAccount, appPassword: string | null, id: string) {
    const iat = Math.floor(this.now() / 1_000)
    const privileged = appPassword !== null && account.appPasswords.get(appPassword)?.privileged
    const own = appPassword === null ? 'access' : privileged ? 'appPassPrivileged' : 'appPass'
    const common = { aud: SERVICE_DID, sub: account.did, iat }
    // Two of the same second would be equal without an id, and could not expire by themselves.
    const jti = randomBytes(8).toString('base64url')
    this.access.set(jti, this.now() + this.accessMs)
    return {
      accessJwt: signPdsToken(this.secret, 'at+jwt', {
        scope: `com.atproto.${own}`,
        ...common,
        exp: iat + ACCESS_SECONDS,
        jti,
      }),
      refreshJwt: signPdsToken(this.secret, 'refresh+jwt', {
        scope: 'com.atproto.refresh',
        ...common,
        jti: id,
        exp: iat + REFRESH_SECONDS,
      }),
    }
  }

  private keep(id: string, did: string, appPassword: string | null): void {
    const expiresAt = this.now() + REFRESH_SECONDS * 1_000
    if (!this.refreshes.has(id))
      this.refreshes.set(id, { did, appPassword, expiresAt, nextId: null })
  }

  newSession(account: PdsHeldAccount, appPassword: string | null) {
    const id = randomBytes(32).toString('base64')
    this.keep(id, account.did, appPassword)
    this.sessions.push({ did: account.did, sent: null, given: id, at: Date.now() })
    return this.tokens(account, appPassword, id)
  }

  /**
   * A token that has a successor gives that one again for two hours. It even brings it back after
   * it was revoked.
   */
  rotate(account: PdsHeldAccount, id: string) {
    const held = this.refreshes.get(id)
    const session: PdsSession = { did: account.did, sent: id, given: undefined, at: Date.now() }
    this.sessions.push(session)
    if (!held || held.expiresAt <= this.now()) return undefined
    held.expiresAt = Math.min(held.expiresAt, this.now() + GRACE_MS)
    held.nextId ??= randomBytes(32).toString('base64')
    session.given = held.nextId
    this.keep(held.nextId, held.did, held.appPassword)
    return this.tokens(account, held.appPassword, held.nextId)
  }

  revoke(id: string): void {
    this.refreshes.delete(id)
  }

  expireAccess(): void {
    this.oauth.expireAccess()
    this.access.clear()
  }

  /** The claims of a token that this server signed. */
  claimsOf(token: string, typ: string, isExpiredFine = false): PdsClaims {
    const [header = '', claims = '', signature] = token.split('.')
    const signed = `${header}.${claims}`
    const isOurs =
      signature === createHmac('sha256', this.secret).update(signed).digest('base64url')
    if (!isOurs || header !== part({ typ, alg: 'HS256' }))
      throw new XrpcError(400, 'InvalidToken', 'Token could not be verified')
    const read = JSON.parse(Buffer.from(claims, 'base64url').toString()) as PdsClaims
    const isEnded = typ === 'at+jwt' && (this.access.get(read.jti ?? '') ?? 0) <= this.now()
    if ((isEnded || read.exp * 1_000 <= this.now()) && !isExpiredFine)
      throw new XrpcError(400, 'ExpiredToken', 'Token has expired')
    return read
  }

  /** Changes records in one commit. */
  commit(account: PdsHeldAccount, change: () => void): { cid: string; rev: string } {
    change()
    account.commits += 1
    const rev = this.tid()
    account.head = { cid: cidOf([account.did, rev, account.commits]), rev }
    return account.head
  }

  documentOf(did: string, url: string): unknown {
    const other = this.documents.get(did)
    const account = this.accounts.get(did)
    if (other !== undefined || !account) return other
    return didDocument(account, url)
  }
}

export const didDocument = (
  { did, handle }: { did: string; handle: string },
  endpoint: string,
): object => ({
  '@context': [
    'https://www.w3.org/ns/did/v1',
    'https://w3id.org/security/suites/secp256k1-2019/v1',
  ],
  id: did,
  alsoKnownAs: [`at://${handle}`],
  verificationMethod: [
    {
      id: '#atproto',
      type: 'EcdsaSecp256k1VerificationKey2019',
      controller: did,
      publicKeyMultibase: `z${cidOf(did)}`,
    },
  ],
  service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: endpoint }],
})
