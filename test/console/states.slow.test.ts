/** What the console shows while something fails, and how it recovers, in a real Chromium. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext, Page, Route } from 'playwright-core'
import type { ConsoleState } from '#edge/console/bundle'
import { builtConsole } from '#test/support/console/built'
import { browserOf, openTab, type Watched } from '#test/support/console/tab'
import { eventually } from '#test/support/eventually'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { type SignedIn, signedInAs } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const path = browserPath()
if (!path) console.warn('No Chromium here: nobody sees the console fail.')

const LONG_MS = 180_000
const INBOX = '**/api/v1/inbox?*'

const refuse = (status: number, code: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  json: { error: { code, message: 'this was provoked', request_id: 'req-provoked' } },
})

describe.skipIf(!path)('while something fails', () => {
  let bundle: ConsoleState = 'building'
  // Reachable at an address that is not its public one.
  const env = { HOST: '0.0.0.0' }
  const app = useApp({ env, overrides: { console: () => bundle, lanes: [] } })
  const browser = use(openBrowser)
  let olga: SignedIn

  const write = async (body: string): Promise<string> =>
    (await app.send('POST', 'items', { body: { body } })).body.item.id
  const statusOf = async (id: string) =>
    (await app.send('GET', `items/${id}`)).body.item.status as string
  const context = (): Promise<BrowserContext & Watched> => browserOf(browser, app, olga)
  const row = (page: Page, title: string) => page.locator('.row', { hasText: title })

  beforeAll(async () => {
    bundle = (await builtConsole()).bundle
    olga = await signedInAs(app, app.tenantId, { name: 'Olga Owner', role: 'owner' })
  })

  test(
    'bones show what is loading, never over what is known, and an error keeps it',
    async () => {
      await write('What is known already.')
      const tab = await context()
      const held: Route[] = []
      let holds = true
      await tab.route(INBOX, (route) => (holds ? void held.push(route) : route.continue()))
      const page = await openTab(tab, app, '/console/inbox')
      await page.getByLabel('The inbox is loading').waitFor()
      for (const route of held.splice(0)) await route.continue()
      await row(page, 'What is known').waitFor()
      const read = async () => {
        await app.send('POST', 'automation/pause-all')
        await app.send('POST', 'automation/resume-all')
        return eventually(
          async () => held.length,
          (length) => length > 0,
        )
      }
      await read()
      expect(await page.locator('.bones').count()).toBe(0)
      for (const route of held.splice(0)) await route.fulfill(refuse(500, 'internal'))
      await page.getByText('The inbox could not be read.').waitFor()
      await page.getByText(/What is shown is of \d\d:\d\d/).waitFor()
      await page.getByText('Details').click()
      await page.getByText('Request req-provoked').waitFor()
      expect(await row(page, 'What is known').count()).toBe(1)
      await page.getByRole('button', { name: 'Try again' }).click()
      const tooMany = refuse(429, 'rate_limited', { 'retry-after': '2' })
      await eventually(
        async () => held.length,
        (length) => length > 0,
      )
      for (const route of held.splice(0)) await route.fulfill(tooMany)
      const waiting = page.getByRole('button', { name: 'Try again in 2 s' })
      await waiting.waitFor()
      expect(await waiting.isDisabled()).toBe(true)
      // Held until the button was pressed: a hint may lead to a read that makes it go.
      await page.getByRole('button', { name: 'Try again', exact: true }).click()
      await eventually(
        async () => held.length,
        (length) => length > 0,
      )
      holds = false
      for (const route of held.splice(0)) await route.continue()
      await page.getByText('The inbox could not be read.').waitFor({ state: 'detached' })
      await tab.close()
    },
    LONG_MS,
  )

  test(
    'offline, nothing is sent, then or later, and what changed is read on coming back',
    async () => {
      const id = await write('Decided without a network.')
      const tab = await context()
      const page = await openTab(tab, app, `/console/inbox/draft/${id}`)
      await page
        .getByRole('button', { name: /^Approve/ })
        .first()
        .waitFor()
      await tab.setOffline(true)
      await page.getByText('You are offline.').first().waitFor()
      await page.keyboard.press('a')
      await page.getByText('You are offline. Nothing was sent.').first().waitFor()
      await row(page, 'Decided without').waitFor()
      await write('Came meanwhile.')
      await tab.setOffline(false)
      await page.getByText('You are offline. What is shown').waitFor({ state: 'detached' })
      await row(page, 'Came meanwhile').waitFor()
      expect(await statusOf(id)).toBe('drafted')
      await tab.close()
    },
    LONG_MS,
  )

  test(
    'without a stream for half a minute, it says so and reads every 20 seconds',
    async () => {
      const tab = await context()
      // The page then holds the stream itself, where it can be cut.
      await tab.addInitScript('delete window.SharedWorker')
      await tab.route('**/api/v1/app/events', (route) => route.abort())
      const page = await tab.newPage()
      await page.clock.install()
      await page.goto(`${app.url}/console/inbox`)
      await page.locator('main h1').waitFor()
      await page.clock.fastForward(31_000)
      await page.getByText('Live updates are off.').waitFor()
      await write('Read without a stream.')
      expect(await row(page, 'Read without').count()).toBe(0)
      await page.clock.fastForward(20_500)
      await row(page, 'Read without').waitFor()
      await tab.unroute('**/api/v1/app/events')
      await page.clock.fastForward(11_000)
      await page.getByText('Live updates are off.').waitFor({ state: 'detached' })
      await tab.close()
    },
    LONG_MS,
  )

  test(
    'a page of a build that the server no longer has begins anew, with what was typed',
    async () => {
      const id = await write('Typed over an upgrade.')
      const tab = await context()
      const page = await openTab(tab, app, `/console/inbox/draft/${id}`)
      await page.getByLabel('Comment for your team').fill('Ask Ida first.')
      const gone = refuse(404, 'not_found')
      await tab.route('**/console/*.js', (route) => route.fulfill(gone))
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').fill('settings: keys')
      await page.keyboard.press('Enter')
      await page.getByText('The server has a newer console.').waitFor()
      await tab.unroute('**/console/*.js')
      await page.getByRole('heading', { level: 2, name: 'Keys' }).waitFor()
      await page.goto(`${app.url}/console/inbox/draft/${id}`)
      await eventually(
        () => page.getByLabel('Comment for your team').inputValue(),
        (value) => value === 'Ask Ida first.',
      )
      await tab.close()
    },
    LONG_MS,
  )

  test(
    'two tabs whose token has ended refresh it once, and read again',
    async () => {
      const tab = await context()
      const pages = [await openTab(tab, app), await openTab(tab, app)]
      let [refreshes, refused] = [0, 0]
      await tab.route('**/api/v1/app/session/refresh', async (route) => {
        await eventually(
          async () => refused,
          (count) => count >= 2,
        )
        refreshes++
        await route.fulfill({ json: {} })
      })
      await tab.route(INBOX, (route) => {
        if (refreshes > 0) return route.continue()
        refused++
        return route.fulfill(refuse(401, 'unauthorized'))
      })
      await write('Read after the refresh.')
      for (const page of pages) await row(page, 'Read after').waitFor()
      expect([refreshes, pages.map((page) => new URL(page.url()).pathname)]).toEqual([
        1,
        ['/console', '/console'],
      ])
      await tab.close()
    },
    LONG_MS,
  )

  test(
    'at an address that is not the public one, it says where to open it',
    async () => {
      const id = await write('Seen at another address.')
      const url = app.url.replace('127.0.0.1', '127.0.0.2')
      const tab = await browserOf(browser, { url }, olga)
      const page = await openTab(tab, { url }, `/console/inbox/draft/${id}`)
      await page.getByText(`You are at ${new URL(url).host}`).waitFor()
      await page.keyboard.press('a')
      await page
        .getByText(/origin|another site|open it/i)
        .last()
        .waitFor()
      expect(await statusOf(id)).toBe('drafted')
      await tab.close()
    },
    LONG_MS,
  )
})
