/** Two servers of a deployment with an https address sign in as one client, by one key. */
import { expect, test } from 'bun:test'
import { eventually } from '#test/support/eventually'
import { newPerson, openBlueskyApp } from '#test/support/network/bluesky-app'
import { beginOauth, newWalk } from '#test/support/network/oauth-walk'
import { renewNow } from '#test/support/network/renewal-due'
import { use } from '#test/support/use'

const env = { PUBLIC_URL: 'https://tendril.example.com' }
const first = use(() => openBlueskyApp({ replyWithinMs: 20_000 }, { env }))

test('a sign-in that one server began is led by another, and ends at the first', async () => {
  const { app, pds } = first
  await using second = await openBlueskyApp(
    { replyWithinMs: 20_000 },
    { env, pds, database: app.options },
  )
  const keysAt = async (url: string) =>
    (await (await fetch(`${url}/connections/bluesky/jwks.json`)).json()) as {
      keys: Record<string, unknown>[]
    }
  const [keys, others] = await Promise.all([keysAt(app.url), keysAt(second.app.url)])
  expect([keys.keys.length, others]).toEqual([1, keys])
  const read = await fetch(`${app.url}/connections/bluesky/client-metadata.json`)
  const { client_id: id } = (await read.json()) as { client_id: string }
  pds.oauth.keySets.set(id, keys)
  const person = await newPerson(first)
  const walk = await newWalk(first, { tenantId: person.story.tenantId })
  const { body } = await walk.begin({ handle: person.person.handle })
  const { id: authorization } = body.authorization
  const elsewhere = await newWalk(second, { tenantId: person.story.tenantId })
  walk.one.cookies.set('__Host-tendril', { value: walk.key, path: '/' })
  elsewhere.one.cookies.set('__Host-tendril', { value: walk.key, path: '/' })
  const back = pds.oauth.grant(await elsewhere.lead(authorization), person.person.did)
  expect(back).toStartWith('https://tendril.example.com/connections/callback?')
  const pages = await Promise.all([walk.comeBack(back), elsewhere.comeBack(back)])
  expect(pages.map(({ status }) => status).sort()).toEqual([303, 409])
  expect(await walk.standing(authorization)).toMatchObject({ status: 'connected' })
  const before = (await person.row()).credentials
  await renewNow(first, person)
  await eventually(person.row, ({ credentials }) => credentials !== before)
  const item = await person.story.approved()
  expect((await person.story.postNow(item)).status).toBe(200)
  expect(await app.owner`select from deployment_secret`).toHaveLength(1)
})

test('a workspace begins twenty in ten minutes', async () => {
  const { walk, story } = await beginOauth(first)
  const { tenantId } = story
  await first.app.owner`insert into account_authorization (id, tenant_id, person_id, network,
      status, created_at, expires_at)
    select gen_random_uuid(), ${tenantId}, ${walk.personId}, 'bluesky', 'pending', now(),
      now() + interval '9 minutes' from generate_series(1, 19)`
  expect((await walk.begin()).body.error?.code).toBe('conflict')
  await first.app.owner`update account_authorization set expires_at = now() - interval '2 hours'
    where tenant_id = ${tenantId}`
  expect((await walk.begin()).status).toBe(201)
  const rows = await first.app.owner`select from account_authorization
    where tenant_id = ${tenantId}`
  expect(rows).toHaveLength(1)
})
