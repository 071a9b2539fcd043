/** The router: it has what is documented, and nothing else. */

import { expect, test } from 'bun:test'
import { operations } from '#contract/index'
import { unlimitedAddresses } from '#edge/addresses'
import { channelRoutesOf } from '#edge/agent/channels'
import { inboundRoutes } from '#edge/agent/inbound'
import { sharedFileRoutes } from '#edge/agent/shared-files'
import { deviceRoutes } from '#edge/app/device'
import { oauthClientRoutes } from '#edge/app/oauth-client'
import { consoleRoutes } from '#edge/console/routes'
import { createCookies } from '#edge/cookies'
import { staticDocument } from '#edge/document'
import { createHttp } from '#edge/http'
import { createOrigins } from '#edge/origin'
import { connectingPageRoutes } from '#edge/pages/connecting'
import { pageRoutes } from '#edge/pages/routes'
import { trustIn } from '#edge/visit'
import { createLog } from '#kernel/log'
import { soleKey } from '#kernel/secret-keys'
import { LETTERS_PATH, nodeSignature } from '#port/nodes'
import { CHANNELS, INBOUND, OAUTH, PUBLIC, SHARED } from '#test/support/http/paths'

const PAGES = [
  '/',
  '/sign-in',
  '/join',
  '/device',
  '/reset',
  '/approvals/:id',
  '/playbooks/:id/versions/:versionId',
  '/channels/dev/:id',
  '/replies/:id',
  '/connections/start/:id',
  '/connections/callback',
]

const CLIENT = ['client-metadata.json', 'jwks.json'].map((name) => `/connections/bluesky/${name}`)

/** Answered with 405, as otherwise an operation on `:id` would look for a record of this name. */
const REFUSED = [
  ...[
    'app/connections/bluesky',
    'app/connections/sandbox',
    'app/invitations/accept',
    'documents/search',
    'channels/replies',
  ].map((path) => `DELETE /api/v1/${path}`),
  'PATCH /api/v1/channels/replies',
  ...['bulk', 'preview'].flatMap((name) =>
    ['GET', 'PATCH', 'DELETE'].map((method) => `${method} /api/v1/growth/items/${name}`),
  ),
]

const never = () => {
  throw new Error('these tests make no request')
}

const routesOf = () =>
  createHttp({
    operations: operations.map((o) => ({
      ...o,
      run: never,
      open: never,
      enter: never,
      fetch: never,
    })),
    routes: [
      deviceRoutes,
      pageRoutes,
      connectingPageRoutes,
      oauthClientRoutes,
      consoleRoutes,
      sharedFileRoutes,
      inboundRoutes,
      channelRoutesOf,
    ].flatMap((routes) => routes({ internal: [], channels: {} } as never)),
    ready: never,
    readiness: never,
    cookies: createCookies('http://localhost'),
    origins: createOrigins('http://localhost', () => 80),
    addresses: unlimitedAddresses,
    trust: trustIn([]),
    publicUrl: 'http://localhost',
    internal: [],
    authenticator: {
      authenticate: never,
      forget: never,
      confirm: never,
      [Symbol.asyncDispose]: never,
    },
    mcp: { handle: never },
    streams: { open: never },
    hintStreams: { open: never },
    fileSlots: { take: never },
    log: createLog('silent'),
    documents: { openapi: staticDocument({}), capabilities: staticDocument({}) },
    commit: null,
    signature: nodeSignature(soleKey(Buffer.alloc(32)), Date.now),
    serving: never,
  }).routes

test('the router has exactly the operations of the contract, public documents, OAuth, pages, letters and refusals', () => {
  const listed = routesOf()
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path}`)
  const expected = [
    ...operations.map(({ method, path }) => `${method} ${path}`),
    ...PUBLIC.flatMap((path) => [`GET ${path}`, `HEAD ${path}`]),
    ...OAUTH.map((path) => `POST ${path}`),
    ...PAGES.flatMap((path) => [`GET ${path}`, `POST ${path}`]),
    'GET /api/v1/app/session/continue',
    ...CLIENT.map((path) => `GET ${path}`),
    'GET /documents/:id',
    'GET /console',
    'GET /console/*',
    `POST ${LETTERS_PATH}`,
    `POST ${INBOUND.replace('{id}', ':id')}`,
    ...['POST', 'GET'].map((method) => `${method} ${CHANNELS.replace('{channel}', ':channel')}`),
    `GET ${SHARED.replace('{token}', ':token')}`,
    ...REFUSED,
  ]
  expect(listed.sort()).toEqual(expected.sort())
})

test('the router prepares no headers, cookies or query, which every request would pay for', () => {
  const prepares = routesOf().filter(({ compile }) =>
    /parseCookie|parseQuery|toJSON/.test(String(compile())),
  )
  expect(prepares.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})
