/**
 * What a PDS answers to requests of its protocol, in one suite that runs against the fake of
 * test/support/network/pds.ts and against a real one (`npm run network:bluesky`).
 */
import { describe, expect, test } from 'bun:test'
import {
  callPds,
  newPdsHandle,
  newPdsUser,
  type PdsCall,
  type PdsCase,
  refusedBy,
} from '#test/support/network/pds-client'
import { pdsRecordCases } from './pds-records.ts'
import { pdsSessionCases } from './pds-sessions.ts'
import { pdsWritingCases } from './pds-writing.ts'

const identity = (it: PdsCase): void => {
  test('a handle resolves in any case; one that nobody has does not', async () => {
    const { did, handle } = await newPdsUser(it)
    const resolve = (query: Record<string, string>) =>
      callPds(it, 'com.atproto.identity.resolveHandle', { query })
    expect(await resolve({ handle: handle.toUpperCase() })).toMatchObject({
      status: 200,
      body: { did },
    })
    expect(await resolve({ handle: newPdsHandle() })).toEqual(
      refusedBy(400, 'HandleNotFound', 'Unable to resolve handle'),
    )
    expect(await resolve({ handle: 'no body' })).toMatchObject(refusedBy(400, 'InvalidRequest'))
    expect(await resolve({})).toMatchObject(refusedBy(400, 'InvalidRequest'))
  })

  test('the directory names handle and PDS of a DID, and knows no other DIDs', async () => {
    const { did, handle } = await newPdsUser(it)
    const found = await fetch(`${it.plcUrl}/${did}`)
    expect(found.status).toBe(200)
    expect(found.headers.get('content-type')).toContain('application/did+ld+json')
    expect(await found.json()).toMatchObject({
      id: did,
      alsoKnownAs: [`at://${handle}`],
      service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: it.url }],
    })
    const unknown = `did:plc:${'a'.repeat(24)}`
    const none = await fetch(`${it.plcUrl}/${unknown}`)
    expect(none.status).toBe(404)
    expect(await none.json()).toEqual({ message: `DID not registered: ${unknown}` })
  })

  test('the address of a handle names its DID', async () => {
    const { did, handle } = await newPdsUser(it)
    const at = (host: string) =>
      fetch(`${it.url}/.well-known/atproto-did`, { headers: { host } }).then(async (answer) => [
        answer.status,
        await answer.text(),
      ])
    expect(await at(handle)).toEqual([200, did])
    expect(await at(newPdsHandle())).toEqual([404, 'User not found'])
  })
}

const protocol = (it: PdsCase): void => {
  test('a method is called with its own verb, and a body of the right kind', async () => {
    const call = (method: string, given: PdsCall) =>
      callPds(it, `com.atproto.server.${method}`, given)
    const wrong = (message: string) => refusedBy(400, 'InvalidRequest', message)
    expect(await call('createSession', {})).toEqual(
      wrong('Incorrect HTTP method (GET) expected POST'),
    )
    expect(await call('createSession', { verb: 'POST' })).toEqual(
      wrong('Request encoding (Content-Type) required but not provided'),
    )
    expect(
      await call('createSession', { body: '{}', headers: { 'content-type': 'text/plain' } }),
    ).toEqual(wrong('Wrong request encoding (Content-Type): text/plain'))
    expect(await call('createSession', { body: { identifier: 'a.test' } })).toEqual(
      wrong('Missing required key "password" at $'),
    )
    expect(await call('createSession', { body: { identifier: 5, password: 'x' } })).toEqual(
      wrong('Expected string value type (got 5) at $.identifier'),
    )
    expect(await call('createSession', { body: '{' })).toEqual(refusedBy(400, 'SyntaxError'))
  })

  test('what an AppView would answer is 401 without a session, and 502 with one', async () => {
    const { did, accessJwt } = await newPdsUser(it)
    const methods = {
      'app.bsky.feed.getPosts': { uris: `at://${did}/app.bsky.feed.post/3kabcdefghijk` },
      'app.bsky.feed.getAuthorFeed': { actor: did },
      'app.bsky.actor.getProfile': { actor: did },
      'app.bsky.notification.listNotifications': {},
      'com.example.unknown': {},
    }
    for (const [method, query] of Object.entries(methods)) {
      expect(await callPds(it, method, { query })).toEqual(refusedBy(401, 'AuthMissing'))
      expect(await callPds(it, method, { query, token: accessJwt })).toEqual(
        refusedBy(502, 'UpstreamFailure', 'Upstream service unreachable'),
      )
    }
  })
}

/** Declares the suite for a server that runs while its tests do. */
export const pdsCases = (name: string, it: PdsCase): void => {
  describe(`${name}: the protocol`, () => protocol(it))
  describe(`${name}: identity`, () => identity(it))
  describe(`${name}: sessions`, () => pdsSessionCases(it))
  describe(`${name}: writing`, () => pdsWritingCases(it))
  describe(`${name}: records`, () => pdsRecordCases(it))
}
