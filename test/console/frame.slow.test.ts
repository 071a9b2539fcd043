/** The frame of the console in a real Chromium. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext } from 'playwright-core'
import type { ConsoleState } from '#edge/console/bundle'
import { builtConsole } from '#test/support/console/built'
import { browserOf, expectAccessible, openTab } from '#test/support/console/tab'
import { softwareProfile } from '#test/support/growth/profiles'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { type SignedIn, signedInAs } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const path = browserPath()
if (!path) console.warn('No Chromium here: nobody looks at the console.')

const LONG_MS = 180_000

describe.skipIf(!path)('the frame', () => {
  let bundle: ConsoleState = 'building'
  const app = useApp({ overrides: { console: () => bundle } })
  const browser = use(openBrowser)
  let context: BrowserContext
  let olga: SignedIn

  beforeAll(async () => {
    bundle = (await builtConsole()).bundle
    olga = await signedInAs(app, app.tenantId, { name: 'Olga Owner', role: 'owner' })
    context = await browserOf(browser, app, olga)
  })

  test(
    'is used by keys alone, without a flaw, a complaint or a request elsewhere',
    async () => {
      // Other tests delete drafts behind a tab's back, which may ask for one that has just gone.
      const own = await browserOf(browser, app, olga)
      const page = await openTab(own, app)
      await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog').getByRole('combobox').fill('brow')
      await expectAccessible(page, 'palette')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 2, name: 'This browser' }).waitFor()
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Settings')
      await expectAccessible(page, 'settings')
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys of this page' }).waitFor()
      await expectAccessible(page, 'help')
      await page.keyboard.press('Escape')
      await page.keyboard.press('Shift+P')
      await page.getByRole('button', { name: 'Resume' }).waitFor()
      expect((await app.send('GET', 'automation')).body.automation).toMatchObject({ paused: true })
      await expectAccessible(page, 'paused')
      await page.keyboard.press('g')
      await page.keyboard.press('i')
      await page.waitForURL('**/console/inbox')
      await page.getByText('Nothing waits for you').waitFor()
      await expectAccessible(page, 'empty')
      expect(own.complaints).toEqual([])
      await own.close()
    },
    LONG_MS,
  )

  test(
    'shows what others change as it happens, by its stream',
    async () => {
      const page = await openTab(context, app, '/console/settings/browser')
      const { item } = (await app.send('POST', 'items', { body: { body: 'One more.' } })).body
      await page.locator('.places .count').getByText('1').waitFor()
      await app.send('DELETE', `items/${item.id}`)
      await page.locator('.places .count').waitFor({ state: 'detached' })
      const { since } = (await app.send('GET', 'automation')).body.automation
      const [act, shown] = since === null ? ['pause', 'Paused'] : ['resume', 'Running']
      await page.locator('.automation').waitFor()
      await app.send('POST', `automation/${act}-all`)
      await page.locator('.automation').getByText(shown).waitFor()
      // Without a stream it would have been read only after this line was shown.
      expect(await page.locator('.live-line').count()).toBe(0)
      await page.close()
    },
    LONG_MS,
  )

  test(
    'drafts five and takes one that is written by hand, where nothing waits',
    async () => {
      const page = await openTab(context, app, '/console/inbox')
      await page.getByText('Nothing goes out in the next two weeks.').waitFor()
      await page.keyboard.press('c')
      await page.getByRole('dialog', { name: 'Write a post' }).waitFor()
      await page.keyboard.type('Written by hand.')
      await expectAccessible(page, 'write')
      await page.keyboard.press('Control+Enter')
      await page.waitForURL('**/console/inbox/draft/*')
      const id = page.url().split('/').at(-1)!
      expect((await app.send('GET', `items/${id}`)).body.item).toMatchObject({
        status: 'drafted',
        body: 'Written by hand.',
      })
      await page.goto(`${app.url}/console/inbox`)
      await page.locator('.row').waitFor()
      await app.send('DELETE', `items/${id}`)
      await page.getByRole('button', { name: 'Draft five' }).press('Enter')
      await page.getByText('add stories or proof to the profile').waitFor()
      await app.send('PUT', 'profile', { body: softwareProfile })
      await page.getByRole('button', { name: 'Draft five' }).press('Enter')
      await page.locator('.row').nth(4).waitFor()
      const drafts = (await app.send('GET', 'items?status=drafted')).body.items
      expect(drafts).toHaveLength(5)
      // The other tests begin with nothing that waits.
      for (const draft of drafts) await app.send('DELETE', `items/${draft.id}`)
      await page.close()
    },
    LONG_MS,
  )

  test(
    'keeps what this browser chose, and its keys without a modifier can be switched off',
    async () => {
      const page = await openTab(context, app, '/console/settings/browser')
      await page.getByLabel('Dark').last().check()
      await page.getByLabel('Single keys').last().uncheck()
      await page.reload()
      await page.locator('main h1').waitFor()
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
      await page.keyboard.press('?')
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Places and commands' }).waitFor()
      expect(await page.getByRole('dialog').count()).toBe(1)
      await page.keyboard.press('Escape')
      await page.getByLabel('Single keys').last().check()
      await page.close()
    },
    LONG_MS,
  )
})
