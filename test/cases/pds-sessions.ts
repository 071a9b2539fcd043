/** What a PDS answers to requests about sessions, passwords and the states of accounts. */
import { describe, expect, test } from 'bun:test'
import {
  callPds,
  newPdsHandle,
  newPdsUser,
  type PdsCall,
  type PdsCase,
  refusedBy,
} from '#test/support/network/pds-client'
import { signPdsToken } from '#test/support/network/pds-world'

const claimsIn = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

const server = (it: PdsCase, method: string, given: PdsCall = {}) =>
  callPds(it, `com.atproto.server.${method}`, given)

const logIn = (it: PdsCase, identifier: string, password: string) =>
  server(it, 'createSession', { body: { identifier, password } })

const refresh = (it: PdsCase, token: string) =>
  server(it, 'refreshSession', { verb: 'POST', token })

const wrongPassword = refusedBy(401, 'AuthenticationRequired', 'Invalid identifier or password')
const unverified = refusedBy(400, 'InvalidToken', 'Token could not be verified')

const loggingIn = (it: PdsCase): void => {
  test('the scope of a session tells the own password from app passwords', async () => {
    const user = await newPdsUser(it)
    const own = await logIn(it, user.handle, user.password)
    expect(own).toMatchObject({
      status: 200,
      body: { did: user.did, handle: user.handle, active: true },
    })
    const { scope, sub, exp, iat } = claimsIn(own.body.accessJwt)
    expect([scope, sub, exp - iat]).toEqual(['com.atproto.access', user.did, 7_200])
    expect(claimsIn(own.body.refreshJwt)).toMatchObject({
      scope: 'com.atproto.refresh',
      jti: expect.any(String),
    })
    const app = await logIn(it, user.handle.toUpperCase(), user.appPassword)
    expect(claimsIn(app.body.accessJwt).scope).toBe('com.atproto.appPass')
    const privileged = await server(it, 'createAppPassword', {
      body: { name: 'two', privileged: true },
      token: own.body.accessJwt,
    })
    const { password } = privileged.body
    expect(password).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
    expect(privileged.body).toMatchObject({ name: 'two', privileged: true })
    const second = await logIn(it, user.did, password)
    expect(claimsIn(second.body.accessJwt).scope).toBe('com.atproto.appPassPrivileged')
  })

  test('a wrong password, an unknown account and an @ are refused alike', async () => {
    const { handle, appPassword } = await newPdsUser(it)
    expect(await logIn(it, handle, 'wrong')).toEqual(wrongPassword)
    expect(await logIn(it, newPdsHandle(), appPassword)).toEqual(wrongPassword)
    expect(await logIn(it, `@${handle}`, appPassword)).toEqual(wrongPassword)
  })

  test('an app password opens no more app passwords', async () => {
    const { accessJwt } = await newPdsUser(it)
    expect(
      await server(it, 'createAppPassword', { body: { name: 'more' }, token: accessJwt }),
    ).toEqual(refusedBy(400, 'InvalidToken', 'Bad token scope'))
  })

  test('a handle that is taken, or is none, makes no account', async () => {
    const { handle } = await newPdsUser(it)
    const create = (name: string) =>
      server(it, 'createAccount', {
        body: { handle: name, email: `${newPdsHandle()}@mail.test`, password: 'x' },
      })
    expect(await create(handle)).toEqual(
      refusedBy(400, 'InvalidRequest', `Handle already taken: ${handle}`),
    )
    expect(await create('bad..')).toEqual(refusedBy(400, 'InvalidRequest'))
  })
}

const tokens = (it: PdsCase): void => {
  test('a session answers for itself; no token, a bad one and one of the other kind do not', async () => {
    const { did, handle, accessJwt, refreshJwt } = await newPdsUser(it)
    const get = (token?: string) => server(it, 'getSession', token === undefined ? {} : { token })
    expect(await get(accessJwt)).toMatchObject({ status: 200, body: { did, handle, active: true } })
    expect(await get()).toEqual(refusedBy(401, 'AuthMissing', 'Authentication Required'))
    for (const bad of ['bad', refreshJwt, `${accessJwt.slice(0, -4)}AAAA`])
      expect(await get(bad)).toEqual(unverified)
    expect(await refresh(it, accessJwt)).toEqual(unverified)
  })

  test('an expired token is named so', async () => {
    const { did } = await newPdsUser(it)
    const signed = (typ: string, scope: string, exp: number) =>
      signPdsToken(it.secret, typ, {
        scope,
        aud: 'did:web:localhost',
        sub: did,
        iat: 1_700_000_000,
        exp,
        jti: 'none',
      })
    const access = signed('at+jwt', 'com.atproto.access', 1_700_007_200)
    const expired = refusedBy(400, 'ExpiredToken', 'Token has expired')
    expect(await server(it, 'getSession', { token: access })).toEqual(expired)
    expect(await callPds(it, 'com.atproto.repo.putRecord', { body: {}, token: access })).toEqual(
      expired,
    )
    const old = signed('refresh+jwt', 'com.atproto.refresh', 1_700_007_200)
    expect(await refresh(it, old)).toEqual(expired)
    expect(await refresh(it, signed('refresh+jwt', 'com.atproto.refresh', 4_000_000_000))).toEqual(
      refusedBy(400, 'ExpiredToken', 'Token has been revoked'),
    )
  })

  test('a refresh token gives the same successor again, and keeps the scope', async () => {
    const { refreshJwt } = await newPdsUser(it)
    const [first, again] = [await refresh(it, refreshJwt), await refresh(it, refreshJwt)]
    expect([first.status, again.status]).toEqual([200, 200])
    const idOf = ({ body }: typeof first) => claimsIn(body.refreshJwt).jti
    expect(idOf(again)).toBe(idOf(first))
    expect(idOf(first)).not.toBe(claimsIn(refreshJwt).jti)
    expect(claimsIn(first.body.accessJwt).scope).toBe('com.atproto.appPass')
    const atOnce = await Promise.all([1, 2, 3].map(() => refresh(it, first.body.refreshJwt)))
    expect(new Set(atOnce.map(idOf)).size).toBe(1)
    expect(await server(it, 'refreshSession', { body: {}, token: refreshJwt })).toEqual(
      refusedBy(400, 'InvalidRequest', 'A request body was provided when none was expected'),
    )
  })

  test('a session that was ended is not refreshed; its access token goes on', async () => {
    const { accessJwt, refreshJwt } = await newPdsUser(it)
    const end = () => server(it, 'deleteSession', { verb: 'POST', token: refreshJwt })
    expect(await end()).toMatchObject({ status: 200, body: undefined })
    expect((await end()).status).toBe(200)
    expect(await refresh(it, refreshJwt)).toEqual(
      refusedBy(400, 'ExpiredToken', 'Token has been revoked'),
    )
    expect((await server(it, 'getSession', { token: accessJwt })).status).toBe(200)
    expect(await server(it, 'deleteSession', { verb: 'POST', token: accessJwt })).toEqual(
      unverified,
    )
  })

  test('ending a successor leaves its predecessor, which brings it back', async () => {
    const { refreshJwt } = await newPdsUser(it)
    const { body } = await refresh(it, refreshJwt)
    await server(it, 'deleteSession', { verb: 'POST', token: body.refreshJwt })
    expect((await refresh(it, body.refreshJwt)).status).toBe(400)
    expect((await refresh(it, refreshJwt)).status).toBe(200)
    expect((await refresh(it, body.refreshJwt)).status).toBe(200)
  })

  test('a revoked app password opens no session and refreshes none', async () => {
    const user = await newPdsUser(it)
    const own = await logIn(it, user.handle, user.password)
    const token = own.body.accessJwt
    const revoked = await server(it, 'revokeAppPassword', { body: { name: 'one' }, token })
    expect(revoked.status).toBe(200)
    expect(await logIn(it, user.handle, user.appPassword)).toEqual(wrongPassword)
    expect(await refresh(it, user.refreshJwt)).toEqual(
      refusedBy(400, 'ExpiredToken', 'Token has been revoked'),
    )
    expect((await server(it, 'getSession', { token: user.accessJwt })).status).toBe(200)
    expect<unknown>((await server(it, 'listAppPasswords', { token })).body).toEqual({
      passwords: [],
    })
  })
}

const states = (it: PdsCase): void => {
  const put = (user: { did: string; accessJwt: string }) =>
    callPds(it, 'com.atproto.repo.putRecord', {
      body: {
        repo: user.did,
        collection: 'app.bsky.feed.post',
        rkey: '3kabcdefghijk',
        swapRecord: null,
        record: { text: 'Hello', createdAt: '2026-11-29T10:00:00.000Z' },
      },
      token: user.accessJwt,
    })
  const get = (did: string) =>
    callPds(it, 'com.atproto.repo.getRecord', {
      query: { repo: did, collection: 'app.bsky.feed.post', rkey: '3kabcdefghijk' },
    })
  const resolve = (handle: string) =>
    callPds(it, 'com.atproto.identity.resolveHandle', { query: { handle } })

  test('a deactivated account has sessions that say so, and writes and shows nothing', async () => {
    const user = await newPdsUser(it)
    expect((await put(user)).status).toBe(200)
    const own = await logIn(it, user.handle, user.password)
    await server(it, 'deactivateAccount', { body: {}, token: own.body.accessJwt })
    const state = { status: 200, body: { active: false, status: 'deactivated' } }
    expect(await logIn(it, user.handle, user.appPassword)).toMatchObject(state)
    expect(await server(it, 'getSession', { token: user.accessJwt })).toMatchObject(state)
    expect(await refresh(it, user.refreshJwt)).toMatchObject(state)
    expect(await put(user)).toEqual(refusedBy(401, 'AccountDeactivated', 'Account is deactivated'))
    expect(await get(user.did)).toEqual(refusedBy(502, 'UpstreamFailure'))
    expect(await resolve(user.handle)).toEqual(refusedBy(400, 'HandleNotFound'))
    await server(it, 'activateAccount', { verb: 'POST', token: own.body.accessJwt })
    expect((await get(user.did)).status).toBe(200)
    expect((await put(user)).status).toBe(200)
  })

  test('an account that was taken down has no sessions, and writes and shows nothing', async () => {
    const user = await newPdsUser(it)
    expect((await put(user)).status).toBe(200)
    await it.takeDown(user.did)
    const isDown = refusedBy(401, 'AccountTakedown', 'Account has been taken down')
    expect(await logIn(it, user.handle, user.appPassword)).toEqual(wrongPassword)
    expect(await logIn(it, user.handle, user.password)).toEqual(isDown)
    expect(await refresh(it, user.refreshJwt)).toEqual(isDown)
    expect(await put(user)).toEqual(isDown)
    expect(await get(user.did)).toEqual(refusedBy(502, 'UpstreamFailure'))
    expect(await server(it, 'getSession', { token: user.accessJwt })).toEqual(
      refusedBy(400, 'InvalidRequest', `Could not find user info for account: ${user.did}`),
    )
    expect(await resolve(user.handle)).toEqual(refusedBy(400, 'HandleNotFound'))
  })
}

export const pdsSessionCases = (it: PdsCase): void => {
  describe('logging in', () => loggingIn(it))
  describe('tokens', () => tokens(it))
  describe('states of an account', () => states(it))
}
