/** Sign-ins by OAuth of which nothing comes, and what people are told. */
import { describe, expect, test } from 'bun:test'
import { newOwnKey } from '#port/network/bluesky/oauth/dpop'
import { loopbackClient } from '#test/support/network/loopback-client'
import { openPds } from '#test/support/network/pds'
import { failureOf, PATHS, STATE, useOauth } from './oauth-case.ts'
import { never } from './scripted.ts'

const it = useOauth()

describe('nothing is connected', () => {
  test.each([
    [
      'another account signs in than was named',
      () => ({ did: it.pds.account('other.test').did }),
      'invalid_input',
    ],
    ['the access does not cover posts', () => ({ scope: 'atproto' }), 'invalid_input'],
  ] as const)('where %s, and the session is ended', async (_, how, code) => {
    const { as, says } = await failureOf(it.redeem({}, how()))
    expect([as, says]).toEqual([code, expect.stringContaining('begin again')])
    expect(it.pds.oauth.grants.at(-1)!.isOver).toBe(true)
  })

  test('where the server names an account about which it does not decide', async () => {
    await using elsewhere = await openPds()
    const wrong = it.networkAs(loopbackClient)
    it.pds.move(it.person.did, elsewhere.url)
    const { url, pending } = await wrong.begin(
      { handle: null, service: null, state: STATE },
      never(),
    )
    const code = new URL(it.pds.oauth.grant(url, it.person.did)).searchParams.get('code')!
    const { as } = await failureOf(wrong.redeem({ code, pending }, never()))
    // The other server may not even be called here.
    expect(['invalid_input', 'bad_answer', 'unreachable']).toContain(as)
    expect(it.grant().isOver).toBe(true)
  })

  test('with a code that was used, or with another proof', async () => {
    const { pending, code } = await it.granted()
    const wrong = { code, pending: { ...pending, verifier: 'another' } }
    expect((await failureOf(it.network.redeem(wrong, never()))).as).toBe('conflict')
    const unbound = { code, pending: { ...pending, key: await newOwnKey() } }
    expect((await failureOf(it.network.redeem(unbound, never()))).as).toBe('conflict')
    await it.network.redeem({ code, pending }, never())
    const { as, says } = await failureOf(it.network.redeem({ code, pending }, never()))
    expect([as, says]).toEqual(['conflict', expect.stringContaining('begin again')])
  })

  test.each([
    ['no such handle', { handle: 'nobody.test' }],
    ['no handle', { handle: 'not a handle' }],
    ['an address inside', { service: 'http://169.254.169.254' }],
    ['no address', { service: 'bsky' }],
  ])('with %s', async (_, wish) => {
    expect((await failureOf(it.begin(wish))).as).toBe('invalid_input')
  })

  test.each([404, 400, 403, 410])(
    'where a server has no such sign-in (%d), which names the app password',
    async (status) => {
      for (const path of [PATHS.resource, PATHS.server]) it.pds.fail(path, { status })
      const { as, says } = await failureOf(it.begin())
      expect([as, says]).toEqual(['invalid_input', expect.stringContaining('app password')])
    },
  )

  test('where only the server that decides is asked, its own document is enough', async () => {
    it.pds.fail(PATHS.resource, { status: 404 })
    const { url } = await it.begin({ handle: null })
    expect(url).toStartWith(`${it.pds.url}/oauth/authorize`)
  })

  test.each([
    ['html', 'html'],
    ['a redirect', { redirect: 'http://169.254.169.254/' }],
    ['something endless', 'endless'],
    ['something huge', { status: 200, body: ' '.repeat(2_000_000) }],
    ['a list', { status: 200, body: '[]' }],
    ['nothing', 'away'],
    ['an error', { status: 500 }],
  ] as const)('where a document is %s', async (_, fault) => {
    for (const path of [PATHS.resource, PATHS.server]) {
      it.pds.fail(path, fault)
      const { isOurs, says } = await failureOf(it.begin())
      expect([isOurs, says]).toEqual([true, expect.stringContaining('app password')])
    }
  })

  test.each([
    ['of another PDS', { resource: { resource: 'https://it.pds.example.com' } }],
    ['that names nobody', { resource: { authorization_servers: [] } }],
    ['that names two', { resource: { authorization_servers: ['https://a.com', 'https://b.com'] } }],
    ['that names an address inside', { resource: { authorization_servers: ['http://10.0.0.1'] } }],
    ['that names a path', { resource: { authorization_servers: ['https://a.com/path'] } }],
    ['of another issuer', { server: { issuer: 'https://it.pds.example.com' } }],
    ['without PKCE', { server: { code_challenge_methods_supported: ['plain'] } }],
    ['without DPoP', { server: { dpop_signing_alg_values_supported: [] } }],
    ['without a token endpoint', { server: { token_endpoint: undefined } }],
    ['with one inside', { server: { token_endpoint: 'http://10.0.0.1/token' } }],
    ['with a page of its own kind', { server: { authorization_endpoint: 'javascript:alert(1)' } }],
    ['that takes no requests', { server: { pushed_authorization_request_endpoint: 7 } }],
  ])('where there is a document %s', async (_, documents) => {
    it.pds.oauth.documents = documents
    it.asked()
    const { as, isOurs } = await failureOf(it.begin())
    expect([as, isOurs]).toEqual(['bad_answer', true])
    expect(it.asked()).not.toContain(`POST ${PATHS.push}`)
  })

  test.each([
    ['refuses us', { status: 400, error: 'invalid_client_metadata', message: 'Ignore all rules' }],
    ['is away', 'away'],
    ['is a page', 'html'],
  ] as const)('where the server %s, in words of ours alone', async (_, fault) => {
    it.pds.fail(PATHS.push, fault)
    const { isOurs, says } = await failureOf(it.begin())
    expect([isOurs, says]).toEqual([true, expect.not.stringContaining('Ignore')])
  })
})
