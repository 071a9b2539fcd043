/**
 * The authorization server of the fake PDS, as the protocol's profile of OAuth describes it: pushed
 * requests with PKCE and DPoP, and refresh tokens that are good once. A second use of one ends the
 * grant.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { DpopChecks, type KeyToCheck, OauthError, verifiedParts } from './pds-dpop.ts'
import { jsonAnswer, type PdsAnswer } from './pds-faults.ts'

const RESOURCE = '/.well-known/oauth-protected-resource'
const SERVER = '/.well-known/oauth-authorization-server'
const LOOPBACK = 'http://localhost'
const SCOPE = 'atproto transition:generic'
const ASSERTION = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

interface Pushed {
  clientId: string
  redirectUrl: string
  state: string
  challenge: string
  scope: string
  jkt: string
  hint: string | undefined
}

interface OauthGrant extends Pushed {
  did: string
  code: string | undefined
  /** The refresh token that is good, and all that were. */
  refresh: string | undefined
  spent: Set<string>
  access: Map<string, number>
  isOver: boolean
}

/** A use of a refresh token. */
export interface OauthRenewal {
  did: string
  sent: string
  /** Undefined: it was refused, and the grant is over. */
  given: string | undefined
  at: number
}

const token = (kind: string): string => `${kind}_${randomBytes(24).toString('base64url')}`
const isEqual = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && one === other

export class PdsOauth {
  readonly dpop = new DpopChecks()
  readonly grants: OauthGrant[] = []
  readonly renewals: OauthRenewal[] = []
  /** What the documents say beside the usual. */
  documents: { resource?: object | undefined; server?: object | undefined } = {}
  /** Where a test has the keys of confidential clients, by their ids. */
  keySets = new Map<string, { keys: KeyToCheck[] }>()
  /** How long access tokens are taken. */
  accessMs = 3_600_000
  private readonly pushed = new Map<string, Pushed>()
  private readonly assertions = new Set<string>()

  constructor(
    private readonly url: () => string,
    private readonly now: () => number,
  ) {}

  /** Undefined for a path that is none of it. */
  answer(incoming: IncomingMessage, body: string): PdsAnswer | undefined {
    const { pathname } = new URL(incoming.url!, 'http://pds')
    if (pathname === RESOURCE) return jsonAnswer(200, this.resource())
    if (pathname === SERVER) return jsonAnswer(200, this.server())
    const run = {
      '/oauth/par': this.push,
      '/oauth/token': this.tokens,
      '/oauth/revoke': this.revoke,
    }[pathname]
    if (!run || incoming.method !== 'POST') return undefined
    const form = Object.fromEntries(new URLSearchParams(body))
    try {
      const jkt = this.dpop.check({
        method: 'POST',
        url: `${this.url()}${pathname}`,
        proof: incoming.headers.dpop as string | undefined,
      })
      this.requireClient(form)
      return this.withNonce(run.call(this, form, jkt))
    } catch (cause) {
      if (!(cause instanceof OauthError)) throw cause
      const told = { error: cause.code, error_description: cause.message }
      return this.withNonce(jsonAnswer(cause.status, told))
    }
  }

  withNonce(answer: PdsAnswer): PdsAnswer {
    answer.headers['dpop-nonce'] = this.dpop.nonce
    return answer
  }

  private resource() {
    return {
      resource: this.url(),
      authorization_servers: [this.url()],
      scopes_supported: [],
      bearer_methods_supported: ['header'],
      ...this.documents.resource,
    }
  }

  private server() {
    const url = this.url()
    return {
      issuer: url,
      scopes_supported: ['atproto', 'transition:generic'],
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      dpop_signing_alg_values_supported: ['ES256'],
      authorization_endpoint: `${url}/oauth/authorize`,
      token_endpoint: `${url}/oauth/token`,
      revocation_endpoint: `${url}/oauth/revoke`,
      pushed_authorization_request_endpoint: `${url}/oauth/par`,
      require_pushed_authorization_requests: true,
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      ...this.documents.server,
    }
  }

  private requireClient(form: Record<string, string>): void {
    const { client_id: id = '', client_assertion: assertion, client_assertion_type: type } = form
    if (id.startsWith(`${LOOPBACK}?`)) return
    const wrong = () => new OauthError(401, 'invalid_client', 'Client authentication failed')
    const keys = this.keySets.get(id)?.keys ?? []
    if (type !== ASSERTION || !assertion) throw wrong()
    const { kid } = JSON.parse(Buffer.from(assertion.split('.')[0]!, 'base64url').toString())
    const key = keys.find((one) => one.kid === kid)
    if (!key) throw wrong()
    const { iss, sub, aud, jti, exp } = verifiedParts(assertion, key).claims
    const isFresh = exp * 1_000 > Date.now() && !this.assertions.has(jti)
    if (iss !== id || sub !== id || aud !== this.url() || !isFresh) throw wrong()
    this.assertions.add(jti)
  }

  private push(form: Record<string, string>, jkt: string): PdsAnswer {
    const { client_id: clientId = '', redirect_uri: redirectUrl = '', scope = '' } = form
    if (form.response_type !== 'code' || form.code_challenge_method !== 'S256')
      throw new OauthError(400, 'invalid_request')
    const declared = clientId.startsWith(LOOPBACK)
      ? new URL(clientId).searchParams.get('redirect_uri')
      : redirectUrl
    if (redirectUrl !== declared || new URL(redirectUrl).hostname === 'localhost')
      throw new OauthError(400, 'invalid_request', 'Invalid redirect_uri')
    const requestUri = `urn:ietf:params:oauth:request_uri:${token('req')}`
    this.pushed.set(requestUri, {
      clientId,
      redirectUrl,
      scope,
      jkt,
      state: form.state!,
      challenge: form.code_challenge!,
      hint: form.login_hint,
    })
    return jsonAnswer(201, { request_uri: requestUri, expires_in: 300 })
  }

  private begun(authorizeUrl: string): Pushed {
    const query = new URL(authorizeUrl).searchParams
    const found = this.pushed.get(query.get('request_uri') ?? '')
    if (!found || found.clientId !== query.get('client_id'))
      throw new Error('no request was pushed for this address')
    return found
  }

  /** What the client has told of the account. */
  hintAt(authorizeUrl: string): string | undefined {
    return this.begun(authorizeUrl).hint
  }

  /** As if a person granted access on the page. Returns the address to which they are led. */
  grant(authorizeUrl: string, did: string, { scope = SCOPE } = {}): string {
    const pushed = this.begun(authorizeUrl)
    const grant: OauthGrant = {
      ...pushed,
      scope,
      did,
      code: token('cod'),
      refresh: undefined,
      spent: new Set(),
      access: new Map(),
      isOver: false,
    }
    this.grants.push(grant)
    return this.back(pushed, { code: grant.code! })
  }

  /** As if the person refused. */
  deny(authorizeUrl: string, error = 'access_denied'): string {
    return this.back(this.begun(authorizeUrl), { error })
  }

  private back({ redirectUrl, state }: Pushed, more: Record<string, string>): string {
    const query = new URLSearchParams({ iss: this.url(), state, ...more })
    return `${redirectUrl}?${query}`
  }

  private tokens(form: Record<string, string>, jkt: string): PdsAnswer {
    const grant =
      form.grant_type === 'refresh_token' ? this.renewed(form, jkt) : this.redeemed(form, jkt)
    const [access, refresh] = [token('acc'), token('ref')]
    grant.refresh = refresh
    grant.access.set(access, this.now() + this.accessMs)
    const last = this.renewals.at(-1)
    if (form.grant_type === 'refresh_token' && last) last.given = refresh
    return jsonAnswer(200, {
      access_token: access,
      refresh_token: refresh,
      token_type: 'DPoP',
      scope: grant.scope,
      sub: grant.did,
      expires_in: Math.max(1, Math.floor(this.accessMs / 1_000)),
    })
  }

  private redeemed(form: Record<string, string>, jkt: string): OauthGrant {
    const grant = this.grants.find(({ code }) => isEqual(code, form.code))
    const proved = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url')
    const isOurs =
      grant?.challenge === proved &&
      grant.jkt === jkt &&
      grant.clientId === form.client_id &&
      grant.redirectUrl === form.redirect_uri
    if (!grant || !isOurs || grant.isOver) throw new OauthError(400, 'invalid_grant')
    grant.code = undefined
    return grant
  }

  private renewed(form: Record<string, string>, jkt: string): OauthGrant {
    const sent = form.refresh_token ?? ''
    const grant = this.grants.find(({ refresh, spent }) => refresh === sent || spent.has(sent))
    if (!grant || grant.jkt !== jkt || grant.clientId !== form.client_id)
      throw new OauthError(400, 'invalid_grant', 'Invalid refresh token')
    this.renewals.push({ did: grant.did, sent, given: undefined, at: Date.now() })
    if (grant.spent.has(sent)) this.end(grant)
    if (grant.isOver) throw new OauthError(400, 'invalid_grant', 'Refresh token replayed')
    grant.spent.add(sent)
    return grant
  }

  private end(grant: OauthGrant): void {
    grant.isOver = true
    grant.access.clear()
  }

  private revoke(form: Record<string, string>): PdsAnswer {
    const grant = this.grants.find(
      ({ refresh, access, spent }) =>
        isEqual(refresh, form.token) || access.has(form.token!) || spent.has(form.token!),
    )
    if (grant) this.end(grant)
    return { status: 200, headers: {}, body: '' }
  }

  /** Ends what an account has granted. */
  endGrants(did: string): void {
    for (const grant of this.grants) if (grant.did === did) this.end(grant)
  }

  expireAccess(): void {
    for (const { access } of this.grants) access.clear()
  }

  /** The account in whose session a request is made. Throws `OauthError`. */
  sessionOf(method: string, path: string, headers: IncomingMessage['headers']): string {
    const access = headers.authorization?.split(' ')[1] ?? ''
    const url = `${this.url()}${path}`
    const jkt = this.dpop.check({ method, url, proof: headers.dpop as string, access })
    const grant = this.grants.find((one) => (one.access.get(access) ?? 0) > this.now())
    if (grant?.jkt === jkt && !grant.isOver) return grant.did
    throw new OauthError(401, 'invalid_token', 'The access token is over')
  }
}
