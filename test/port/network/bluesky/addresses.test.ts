/** Addresses that the adapter never calls, wherever they come from. */
import { expect, test } from 'bun:test'
import { createLog } from '#kernel/log'
import { createEgress } from '#port/egress/egress'
import { createBluesky } from '#port/network/bluesky/bluesky'
import { stringifyBlueskyCredentials } from '#port/network/bluesky/credentials'
import { openCanary } from '#test/support/http/canary'
import { openReceiver } from '#test/support/http/receiver'
import { loopbackClient } from '#test/support/network/loopback-client'
import { use } from '#test/support/use'
import { hosts, resolving, urls } from '../../egress/forms.ts'
import {
  APP,
  DID,
  documentOf,
  error,
  json,
  keyFor,
  never,
  OTHER,
  openScripted,
  page,
  session,
} from './scripted.ts'

const it = use(openScripted)
const canary = use(openCanary)
/** Stands in for this deployment: `own` of the egress. */
const own = use(openReceiver)

/** As the deployment would make it, but for the server of the test. */
const network = () => {
  const rules = {
    allow: new Set([new URL(it.at).host]),
    own: new Set(['tendril.example.com:443', 'node.example.com:7443', new URL(own.url).host]),
  }
  const resolve = async (hostname: string) =>
    (resolving[hostname] ?? ['127.0.0.1', '::1']).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
  return createBluesky({
    egress: createEgress({ rules, resolve }),
    open: ({ credentials }) => credentials ?? '',
    service: it.at,
    plcUrl: `${it.at}/plc`,
    appUrl: APP,
    client: loopbackClient,
    log: createLog('silent'),
  })
}

const hostile = (): string[] => {
  const all = [
    ...hosts.map((host) => `https://${host}:P`),
    ...Object.keys(resolving).map((name) => `https://${name}:P`),
    ...urls,
    own.url,
  ].map((url) => url.replaceAll(':P', `:${canary.port}`))
  return all
}

/** What came of each address, none of which was called. */
const outcomes = async (
  each: (address: string) => Promise<unknown>,
  all = hostile(),
): Promise<[string, unknown][]> => {
  const before = [canary.hits(), own.requests.length]
  const told = await Promise.all(
    all.map(
      async (address): Promise<[string, unknown]> => [
        address,
        await each(address).then(
          (result) => result,
          (cause: Error & { code?: string; reason?: string }) => cause.code ?? cause.reason,
        ),
      ],
    ),
  )
  expect([canary.hits(), own.requests.length]).toEqual(before)
  return told
}

test('there are 150 of them, and the canary notices calls', async () => {
  expect(hostile().length).toBeGreaterThanOrEqual(150)
  const before = canary.hits()
  await fetch(`http://127.0.0.1:${canary.port}/`)
  expect(canary.hits()).toBe(before + 1)
})

test('none is called as the service, which is refused by its name', async () => {
  const told = await outcomes((service) =>
    network().signIn({ handle: 'alice.example.com', password: 'x', service, keep: false }, never()),
  )
  expect(told.filter(([, outcome]) => outcome !== 'invalid_input')).toEqual([])
})

test('none is called as the server that a session names', async () => {
  const told = await outcomes((pds) => {
    const at = network()
    it.script['com.atproto.server.deleteSession'] = { status: 200 }
    it.script['com.atproto.server.createSession'] = ({ body }) =>
      json(session({ didDoc: documentOf(DID, { pds: JSON.parse(body).password }) }))
    return at
      .signIn({ handle: 'alice.example.com', password: pds, keep: false }, never())
      .then(async ({ credentials }) => {
        const account = {
          id: 'c',
          externalId: DID,
          handle: 'alice.example.com',
          credentials: stringifyBlueskyCredentials(credentials),
        }
        const { kind } = await at.publish(
          {
            account,
            text: 'x',
            attemptId: 'a',
            key: keyFor(it, 'x'),
            madeAt: new Date(),
            deadlineMs: 5_000,
          },
          never(),
        )
        return kind
      })
  })
  expect(
    told.filter(
      ([, outcome]) => !['invalid_input', 'bad_answer', 'not_applied'].includes(String(outcome)),
    ),
  ).toEqual([])
})

test('none is called as the server of an author, nor where a repository has moved to', async () => {
  let pds = ''
  it.script[`/plc/${OTHER}`] = () => json(documentOf(OTHER, { pds }))
  it.script[`/plc/${DID}`] = () => json(documentOf(DID, { pds }))
  it.script['app.bsky.feed.getPosts'] = error(502, 'UpstreamFailure')
  it.script['com.atproto.repo.getRecord'] = error(400, 'RecordNotFound')
  const key = keyFor(it, 'x')
  const told: [string, unknown][] = []
  for (const address of hostile()) {
    pds = address
    const each = await outcomes(async () => {
      const reads = [
        () => network().readPost(it.account, `at://${OTHER}/app.bsky.feed.post/${key}`, never()),
        () =>
          network().keys.find(
            { account: it.account, key, action: 'post', text: 'x', postId: null },
            never(),
          ),
      ]
      const results = []
      for (const read of reads)
        results.push(
          await read().then(
            (result) => ({ result }),
            (cause: { reason?: string }) => cause.reason,
          ),
        )
      return results
    }, [address])
    told.push(...each)
  }
  const refused = ['unreachable', 'bad_answer']
  expect(
    told.filter(
      ([, results]) => !(results as unknown[]).every((one) => refused.includes(String(one))),
    ),
  ).toEqual([])
})

test('none is called as a handle, or as the host of a DID', async () => {
  it.script['app.bsky.feed.getAuthorFeed'] = page(502)
  it.script['com.atproto.identity.resolveHandle'] = error(400, 'HandleNotFound')
  it.script['app.bsky.feed.getPosts'] = error(502, 'UpstreamFailure')
  const names = [...hosts, ...Object.keys(resolving), ...urls, 'tendril.example.com']
  const handles = await outcomes(
    (handle) => network().readHandle(it.account, { handle, since: new Date(0), limit: 5 }, never()),
    names,
  )
  expect(handles.filter(([, outcome]) => outcome !== null)).toEqual([])
  const dids = await outcomes(
    (host) =>
      network().readPost(
        it.account,
        `at://did:web:${encodeURIComponent(host)}/app.bsky.feed.post/3kkkkkkkkkk22`,
        never(),
      ),
    names,
  )
  expect(
    dids.filter(
      ([, outcome]) => outcome !== null && outcome !== 'unreachable' && outcome !== 'bad_answer',
    ),
  ).toEqual([])
})
