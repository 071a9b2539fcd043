/** Signing in by OAuth at a real PDS, on its own pages in a browser. */
import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { testApp } from '#test/support/app'
import { eventually } from '#test/support/eventually'
import { textOf } from '#test/support/growth/story'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { blueskyEnv, newPerson } from '#test/support/network/bluesky-app'
import { newWalk, type OauthWalk } from '#test/support/network/oauth-walk'
import { callPds, newPdsUser, type PdsUser } from '#test/support/network/pds-client'
import { renewNow } from '#test/support/network/renewal-due'
import { freePort } from '#test/support/processes/server'
import { use } from '#test/support/use'
import { realPds } from './real.ts'

const pds = realPds()

/** Pages and the network's answer name it, so it is known before the server is up. */
const port = await freePort()
const env = { ...blueskyEnv(pds), PORT: String(port), PUBLIC_URL: `http://localhost:${port}` }
const app = use(() => testApp({ env, overrides: { replyWithinMs: 20_000 } }))
const browser = use(openBrowser)

const START = /\/connections\/start\//

/** From our page to the network's question. */
const led = async (walk: OauthWalk, url: string, { password }: PdsUser): Promise<Page> => {
  const context = await browser.newContext()
  await context.addCookies([{ name: 'tendril', value: walk.key, domain: 'localhost', path: '/' }])
  const page = await context.newPage()
  await page.goto(url)
  await page.getByRole('button', { name: 'Continue to Bluesky' }).click()
  await page.waitForURL((now) => now.origin === new URL(pds.url).origin)
  await page.locator('input[type=password]').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Authorize' }).waitFor()
  return page
}

const recordsOf = async ({ did }: PdsUser): Promise<unknown[]> => {
  const query = { repo: did, collection: 'app.bsky.feed.post' }
  const { body } = await callPds(pds, 'com.atproto.repo.listRecords', { query })
  return body.records.map((one) => (one as unknown as { value: { text: unknown } }).value.text)
}

const begun = async () => {
  // Its account on the network is the one of the real server.
  const person = await newPerson({ app, pds: { account: () => ({}) } as never })
  const user = await newPdsUser(pds)
  const walk = await newWalk({ app }, { tenantId: person.story.tenantId })
  const { authorization } = (await walk.begin({ handle: user.handle })).body
  return { ...person, user, walk, authorization }
}

test.skipIf(!browserPath())(
  'access is granted, renewed, used for a post, and revoked',
  async () => {
    const { user, walk, authorization, story, row, disconnect } = await begun()
    const page = await led(walk, authorization.url, user)
    await page.getByRole('button', { name: 'Authorize' }).click()
    await page.waitForURL(START)
    expect(await page.locator('main').innerText()).toContain(`@${user.handle}`)
    expect(await walk.standing(authorization.id)).toMatchObject({
      status: 'connected',
      account: { handle: user.handle },
    })
    const before = (await row()).credentials
    await renewNow({ app }, { story, row })
    await eventually(row, ({ credentials }) => credentials !== before)
    const item = await story.approved()
    expect((await story.postNow(item)).status).toBe(200)
    expect(await recordsOf(user)).toEqual([textOf(item)])
    expect((await disconnect()).status).toBe(200)
    await eventually(row, ({ credentials }) => credentials === null)
  },
)

test.skipIf(!browserPath())('access is denied, and both sides are told', async () => {
  const { user, walk, authorization } = await begun()
  const page = await led(walk, authorization.url, user)
  await page.getByRole('button', { name: 'Deny access' }).click()
  await page.waitForURL(START)
  expect(await page.locator('main').innerText()).toContain('access was not granted')
  expect(await walk.standing(authorization.id)).toMatchObject({ status: 'refused' })
})
