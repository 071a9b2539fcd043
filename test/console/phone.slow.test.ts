/** A day's decisions on a phone, by touch. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import type { ConsoleState } from '#edge/console/bundle'
import { createWorkspace } from '#ops/operator/admin/workspaces'
import { builtConsole } from '#test/support/console/built'
import { browserOf, openTab, type Watched } from '#test/support/console/tab'
import { dragFinger, smallTargets } from '#test/support/console/touch'
import { insertMember } from '#test/support/database/writes'
import { eventually } from '#test/support/eventually'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { signedInAs } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const path = browserPath()
if (!path) console.warn('No Chromium here: nobody decides on a phone.')

const LONG_MS = 180_000
/** Makes the tab read again, and ends once it has asked. */
const READ_AGAIN = `new Promise((done) => {
  dispatchEvent(new Event('online'))
  setTimeout(done, 100)
})`
const PHONE = { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true }

describe.skipIf(!path)('on a phone', () => {
  let bundle: ConsoleState = 'building'
  const app = useApp({ overrides: { console: () => bundle, lanes: [] } })
  const browser = use(openBrowser)
  let context: BrowserContext & Watched

  const write = async (body: string): Promise<string> =>
    (await app.send('POST', 'items', { body: { body } })).body.item.id
  const until = (id: string, status: string) =>
    eventually(
      async () => (await app.send('GET', `items/${id}`)).body.item,
      (item) => item.status === status,
    )

  beforeAll(async () => {
    bundle = (await builtConsole()).bundle
    const olga = await signedInAs(app, app.tenantId, { name: 'Olga Owner', role: 'owner' })
    context = await browserOf(browser, app, olga, PHONE)
    const { channels } = (await app.send('GET', 'channels')).body
    const { id } = channels.find(({ name }: { name: string }) => name === 'posts')
    const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
    await app.send('PUT', `channels/${id}`, { body: { cadence: { days, times: ['08:30'] } } })
  })

  /** The main button, which names the time. */
  const main = (page: Page) => page.getByRole('button', { name: /^Approve \w{3} \d/ })

  test(
    'a draft is decided within the thumb’s reach, by its buttons or by a swipe',
    async () => {
      const id = await write('The ramp first.')
      const page = await openTab(context, app, '/console/inbox')
      await page.locator('.row').first().tap()
      await main(page).waitFor()
      const box = (await main(page).boundingBox())!
      expect([box.height >= 44, box.y > 600, await smallTargets(page)]).toEqual([true, true, []])
      const from = { x: 200, y: 400 }
      // Up and down scrolls, and decides nothing, wherever the finger then goes.
      await dragFinger(page, from, { x: 0, y: -160 })
      await dragFinger(page, from, { x: 90, y: 3 })
      await dragFinger(page, from, { x: -170, y: 6 })
      await page.getByRole('button', { name: 'Not true' }).waitFor()
      await page.getByRole('button', { name: 'Cancel' }).tap()
      expect((await until(id, 'drafted')).status).toBe('drafted')
      await dragFinger(page, from, { x: 180, y: 10 })
      expect((await until(id, 'approved')).post_at).not.toBeNull()
      await page.getByRole('button', { name: 'Undo' }).tap()
      await until(id, 'drafted')
      await page.emulateMedia({ reducedMotion: 'reduce' })
      await page.locator('.row').first().tap()
      await main(page).waitFor()
      await dragFinger(page, from, { x: -170, y: 6 })
      expect(await page.getByRole('button', { name: 'Not true' }).count()).toBe(0)
      await main(page).tap()
      await until(id, 'approved')
      await app.send('DELETE', `items/${id}`)
      expect(context.complaints).toEqual([])
      await page.close()
    },
    LONG_MS,
  )

  test(
    'a role that may not decide swipes in vain',
    async () => {
      const id = await write('Not for viewers to decide.')
      const vera = await signedInAs(app, app.tenantId, { name: 'Vera Viewer', role: 'viewer' })
      const hers = await browserOf(browser, app, vera, PHONE)
      const page = await openTab(hers, app, `/console/inbox/draft/${id}`)
      await main(page).waitFor()
      expect(await main(page).getAttribute('aria-disabled')).toBe('true')
      await dragFinger(page, { x: 100, y: 400 }, { x: 200, y: 0 })
      await main(page).tap({ force: true })
      await page.getByText('may do this').first().waitFor()
      expect((await until(id, 'drafted')).status).toBe('drafted')
      await app.send('DELETE', `items/${id}`)
      await hers.close()
    },
    LONG_MS,
  )

  test(
    'the person’s menu leads to the other workspace',
    async () => {
      const rita = await signedInAs(app, app.tenantId, { name: 'Rita', role: 'editor' })
      const second = await createWorkspace(app.workplace.db, 'Night Desk')
      await insertMember(app, second, { personId: rita.personId, role: 'approver' })
      const hers = await browserOf(browser, app, rita, PHONE)
      const page = await openTab(hers, app, '/console/inbox')
      await page.getByRole('button', { name: /your menu$/ }).tap()
      await page.getByRole('button', { name: /^Night Desk/ }).waitFor()
      expect(await smallTargets(page)).toEqual([])
      // Until the tab has left, whatever makes it read again must not ask for the former workspace.
      await page.route('**/session/workspace', async (route) => {
        const response = await route.fetch()
        await page.evaluate(READ_AGAIN)
        await route.fulfill({ response })
      })
      const loaded = page.waitForEvent('load')
      await page.getByRole('button', { name: /^Night Desk/ }).tap()
      await loaded
      await page.getByRole('button', { name: /your menu$/ }).tap()
      await page.getByText('Workspace: Night Desk').waitFor()
      expect(hers.complaints).toEqual([])
      await hers.close()
    },
    LONG_MS,
  )
})
