/** Access that is granted on a page of the account's server, against a played one. */
import { describe, expect, test } from 'bun:test'
import {
  type OauthSession,
  parseBlueskyCredentials,
  stringifyBlueskyCredentials,
} from '#port/network/bluesky/credentials'
import { parsePendingOauth } from '#port/network/bluesky/oauth/authorizing'
import { createOauthClient } from '#port/network/bluesky/oauth/client'
import { newOwnKey } from '#port/network/bluesky/oauth/dpop'
import { NetworkError } from '#port/network/network'
import { failureOf, PATHS, STATE, useOauth } from './oauth-case.ts'
import { never } from './scripted.ts'

const it = useOauth()
const WRITE = 'com.atproto.repo.putRecord'

describe('access that is granted', () => {
  test('begins a session of the account, which posts and is told by its handle', async () => {
    const { url, pending } = await it.begin()
    expect(new URL(url).origin + new URL(url).pathname).toBe(`${it.pds.url}/oauth/authorize`)
    expect(it.pds.oauth.hintAt(url)).toBe(it.person.handle)
    const back = new URL(it.pds.oauth.grant(url, it.person.did))
    expect(back.href).toStartWith('http://127.0.0.1:7070/connections/callback?')
    expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: STATE, iss: it.pds.url })
    const code = back.searchParams.get('code')!
    const { credentials, ...known } = await it.network.redeem(
      { code, pending: parsePendingOauth(JSON.stringify(pending)) },
      never(),
    )
    expect(known).toEqual({ handle: it.person.handle, displayName: null })
    expect(credentials).toMatchObject({ did: it.person.did, pds: it.pds.url, issuer: it.pds.url })
    expect(parseBlueskyCredentials(stringifyBlueskyCredentials(credentials))).toEqual(credentials)
    expect(await it.post(credentials, 'Hello')).toMatchObject({ kind: 'posted' })
    expect(it.pds.records(it.person.did, 'app.bsky.feed.post')).toHaveLength(1)
  })

  test('without a name is that of the account that signs in there', async () => {
    const { url } = await it.begin({ handle: null })
    expect(it.pds.oauth.hintAt(url)).toBeUndefined()
    expect((await it.redeem({ handle: null })).credentials.did).toBe(it.person.did)
  })

  test('is asked for again with the number that a server wants, once, and nothing is done twice', async () => {
    const { credentials } = await it.redeem()
    it.pds.oauth.dpop.renewNonce()
    it.asked()
    expect(await it.post(credentials, 'One')).toMatchObject({ kind: 'posted' })
    expect(it.asked()).toEqual([`POST ${WRITE}`, `POST ${WRITE}`])
    expect(await it.post(credentials, 'Two')).toMatchObject({ kind: 'posted' })
    expect(it.asked()).toEqual([`POST ${WRITE}`])
    expect(it.pds.commits(it.person.did)).toBe(2)
  })

  test('is asked for again by each of those who come at once with an old number', async () => {
    const { credentials } = await it.redeem()
    it.pds.oauth.dpop.renewNonce()
    const results = await Promise.all(
      ['One', 'Two', 'Three'].map((text) => it.post(credentials, text)),
    )
    expect(results.map(({ kind }) => kind)).toEqual(['posted', 'posted', 'posted'])
  })

  test('ends a server that asks for ever new numbers by an answer that nothing was done', async () => {
    const { credentials } = await it.redeem()
    const headers = () => ({ 'dpop-nonce': `n${Math.random()}` })
    for (let nth = 0; nth < 2; nth++)
      it.pds.fail(WRITE, { status: 401, error: 'use_dpop_nonce', headers: headers() })
    it.asked()
    expect(await it.post(credentials, 'One')).toMatchObject({ kind: 'not_applied' })
    expect(it.asked()).toHaveLength(2)
  })

  test('of a session that is over waits for its renewal', async () => {
    const { credentials } = await it.redeem()
    it.pds.expireAccess()
    expect(await it.post(credentials, 'One')).toMatchObject({
      kind: 'not_applied',
      isSessionOver: true,
    })
  })
})

describe('a session by OAuth', () => {
  test('is renewed by a token that is good once', async () => {
    const { credentials } = await it.redeem()
    const renewal = await it.network.renew(credentials, never())
    if (renewal.kind !== 'renewed') throw new Error(renewal.kind)
    const next = renewal.credentials as OauthSession
    expect(next.refresh).not.toBe(credentials.refresh)
    expect({ ...next, access: '', refresh: '', accessEndsAt: 0 }).toEqual({
      ...credentials,
      access: '',
      refresh: '',
      accessEndsAt: 0,
    })
    expect(await it.post(next, 'One')).toMatchObject({ kind: 'posted' })
    expect(await it.network.renew(credentials, never())).toMatchObject({ kind: 'refused' })
    expect(await it.network.renew(next, never())).toMatchObject({ kind: 'refused' })
  })

  test.each([
    ['hang up', 'away'],
    ['send a page', 'html'],
    ['fail', { status: 500 }],
    ['have enough', { limitedSeconds: 30 }],
    ['know no such client', { status: 401, error: 'invalid_client' }],
    ['want other proof', { status: 400, error: 'invalid_dpop_proof' }],
    ['lead elsewhere', { redirect: 'http://169.254.169.254/' }],
  ] as const)('is kept, however servers %s', async (_, fault) => {
    const { credentials } = await it.redeem()
    it.pds.fail(PATHS.token, fault)
    expect(await it.network.renew(credentials, never())).toMatchObject({ kind: 'unanswered' })
    expect(await it.network.renew(credentials, never())).toMatchObject({ kind: 'renewed' })
  })

  test('whose answer was lost is lost at the next use, and for certain', async () => {
    const { credentials } = await it.redeem()
    it.pds.fail(PATHS.token, 'lost')
    expect(await it.network.renew(credentials, never())).toMatchObject({ kind: 'unanswered' })
    expect(await it.network.renew(credentials, never())).toMatchObject({ kind: 'refused' })
  })

  test('is ended where it is revoked', async () => {
    const { credentials } = await it.redeem()
    await it.network.signOut(credentials, never())
    expect(it.grant().isOver).toBe(true)
    await it.network.signOut(credentials, never())
    it.pds.fail(PATHS.revoke, { status: 503 })
    await expect(it.network.signOut(credentials, never())).rejects.toBeInstanceOf(NetworkError)
  })
})

describe('as whom we ask', () => {
  const clientAt = (publicUrl: string, key = newOwnKey()) =>
    createOauthClient({ publicUrl, key: () => key })

  test('on https is a client with a key, whose documents say so', async () => {
    const client = clientAt('https://tendril.example.com')
    const id = 'https://tendril.example.com/connections/bluesky/client-metadata.json'
    expect(client.party).toMatchObject({ kind: 'confidential', id })
    expect(client.metadata()).toMatchObject({
      client_id: id,
      redirect_uris: ['https://tendril.example.com/connections/callback'],
      jwks_uri: 'https://tendril.example.com/connections/bluesky/jwks.json',
      token_endpoint_auth_method: 'private_key_jwt',
      dpop_bound_access_tokens: true,
    })
    const keys = (await client.keySet()) as { keys: Record<string, unknown>[] }
    expect(keys.keys).toEqual([expect.objectContaining({ alg: 'ES256', kid: expect.any(String) })])
    expect(keys.keys[0]).not.toHaveProperty('d')
    it.network = it.networkAs(client)
    expect((await failureOf(it.begin())).as).toBe('bad_answer')
    it.pds.oauth.keySets.set(id, keys)
    const { credentials } = await it.redeem()
    expect(await it.network.renew(credentials, never())).toMatchObject({ kind: 'renewed' })
  })

  test.each(['http://localhost:7070', 'http://127.0.0.1:7070', 'http://[::1]:7070'])(
    'at %s is a client of this machine, which nobody can look up',
    (url) => {
      const { party } = clientAt(url)
      expect(party).toMatchObject({
        kind: 'loopback',
        redirectUrl: 'http://127.0.0.1:7070/connections/callback',
      })
      expect(party?.id).toStartWith('http://localhost?redirect_uri=http%3A%2F%2F127.0.0.1')
    },
  )

  test('on plain http elsewhere is nobody, which names the app password', async () => {
    it.network = it.networkAs(clientAt('http://tendril.lan:7070'))
    it.asked()
    const { as, says } = await failureOf(it.begin())
    expect([as, says]).toEqual(['conflict', expect.stringContaining('app password')])
    expect(it.asked()).toEqual([])
  })
})

test('what waits, and what a session is, are told from anything else', () => {
  for (const text of ['', '{}', '{"verifier":"x"}', '{"issuer":"x","did":"y"}']) {
    expect(() => parsePendingOauth(text)).toThrow(/^this is no sign-in that waits$/)
    expect(() => parseBlueskyCredentials(text)).toThrow(/^these are no credentials/)
  }
})
