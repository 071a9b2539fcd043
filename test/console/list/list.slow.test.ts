/** The list of the inbox in a real Chromium: filtered, decided together, and side by side. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { isDeepStrictEqual } from 'node:util'
import type { BrowserContext, Page } from 'playwright-core'
import type { ConsoleState } from '#edge/console/bundle'
import { newId } from '#kernel/ids'
import { connectAccount } from '#ops/operator/admin/workspaces'
import { builtConsole } from '#test/support/console/built'
import { browserOf, expectAccessible, openTab, type Watched } from '#test/support/console/tab'
import { insertItem, insertItems } from '#test/support/database/writes'
import { eventually } from '#test/support/eventually'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { signedInAs } from '#test/support/session'
import { use, useApp } from '#test/support/use'

const path = browserPath()
if (!path) console.warn('No Chromium here: nobody walks through the list of the inbox.')

const LONG_MS = 240_000
/** Of several pages. */
const MANY = 600
/** Scrolls as far as is known; the number of the last row that is drawn. */
const TO_END = `(() => {
  const list = document.querySelector('.list')
  if (list) list.scrollTop = list.scrollHeight
  return [...document.querySelectorAll('.list li')].at(-1)?.getAttribute('aria-posinset')
})()`
const TO_MIDDLE = `(() => {
  const list = document.querySelector('.list')
  list.scrollTop = list.scrollHeight / 2 + 7
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
})()`
/** The first row on the screen, and how far from the top it stands. */
const FIRST_ROW = `(() => {
  const { top } = document.querySelector('.list').getBoundingClientRect()
  for (const row of document.querySelectorAll('.list li[aria-posinset]')) {
    const at = Math.round(row.getBoundingClientRect().top - top)
    if (at >= 0) return { text: row.innerText, at }
  }
})()`
/** Longer than it takes until bones are shown. */
const SLOW_MS = 600
/** Counts what is shown in the place of what is not there yet. */
const WATCH_BONES = `window.bones = 0; new MutationObserver(() => {
  window.bones += document.querySelectorAll('.bones').length
}).observe(document.body, { childList: true, subtree: true })`
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const TEXTS = [
  'A dock that waits for a truck costs twice: once for the dock, once for the truck.',
  'We asked forty dispatchers what they fear.\n\nNot the storm. The call that comes too late.',
  'Call before they do.',
]
const MORE = {
  format: 'point',
  rationale: 'Dispatchers pay for every call that comes late, and nobody says so.',
  length: 81,
}

describe.skipIf(!path)('the list', () => {
  let bundle: ConsoleState = 'building'
  const app = useApp({ overrides: { console: () => bundle, lanes: [] } })
  const browser = use(openBrowser)
  let context: BrowserContext & Watched
  const batch = newId()
  const drafts: string[] = []

  const itemOf = async (id: string) => (await app.send('GET', `items/${id}`)).body.item
  const until = (id: string, status: string) =>
    eventually(
      () => itemOf(id),
      (item) => item.status === status,
    )
  const rows = (page: Page) => page.getByRole('list', { name: 'What waits' }).getByRole('button')

  beforeAll(async () => {
    bundle = (await builtConsole()).bundle
    const olga = await signedInAs(app, app.tenantId, { name: 'Olga Owner', role: 'owner' })
    context = await browserOf(browser, app, olga)
    const second = await app.workplace.sandbox.connect(app.tenantId, 'harbour-notes')
    await connectAccount(app.workplace.world, app.tenantId, { network: 'sandbox', ...second })
    const { channels } = (await app.send('GET', 'channels')).body
    const posts = channels.find(({ name }: { name: string }) => name === 'posts')
    await app.send('PUT', `channels/${posts.id}`, {
      body: { cadence: { days: DAYS, times: ['08:30', '16:00'] } },
    })
    await app.owner`insert into batch (id, tenant_id, status, focus, requested, created_at, updated_at)
      values (${batch}, ${app.tenantId}, 'ready', 'What a late call costs', 3, now(), now())`
    for (const body of TEXTS)
      drafts.push(
        await insertItem(app, app.tenantId, {
          body,
          ...MORE,
          hook: body === TEXTS[1] ? 'open_question' : 'none',
          source_kind: 'batch',
          source_id: batch,
          batch_id: batch,
        }),
      )
    await app.send('POST', 'items', { body: { body: 'Written by hand.' } })
  })

  test(
    'is filtered by source and account, which a link keeps',
    async () => {
      context.complaints.length = 0
      const page = await openTab(context, app, '/console/inbox')
      await eventually(
        () => rows(page).count(),
        (count) => count === 4,
      )
      await page.getByLabel('Source').selectOption('batch')
      await eventually(
        () => rows(page).count(),
        (count) => count === 3,
      )
      await page.getByLabel('Account').selectOption({ label: '@harbour-notes' })
      await page.getByText('Nothing waits with these filters').waitFor()
      await expectAccessible(page, 'filtered-empty')
      const account = new URL(page.url()).searchParams.get('account')
      const other = await openTab(
        context,
        app,
        new URL(page.url()).pathname + new URL(page.url()).search,
      )
      await other.getByText('Nothing waits with these filters').waitFor()
      await other.close()
      await page.getByRole('button', { name: 'Clear the filters' }).click()
      await eventually(
        () => rows(page).count(),
        (count) => count === 4,
      )
      expect([account?.length, new URL(page.url()).search]).toEqual([36, ''])
      expect(await page.evaluate<string>('document.activeElement.name')).toBe('source')
      await expectAccessible(page, 'list-accounts')
      expect(await page.getByRole('list', { name: 'What waits' }).innerText()).not.toContain('none')
      expect(context.complaints).toEqual([])
      await page.close()
    },
    LONG_MS,
  )

  test(
    'names the times of what is selected, and books these very times',
    async () => {
      const page = await openTab(context, app, '/console/inbox')
      await page.setViewportSize({ width: 390, height: 800 })
      await page.getByLabel('Select: A dock').check()
      await page.getByLabel('Select: Call before they do.').check()
      await page.getByRole('button', { name: 'Decide 2 together' }).click()
      const named = page.locator('.selected-about time')
      await named.nth(1).waitFor()
      await expectAccessible(page, 'together-times')
      const times = [
        await named.nth(0).getAttribute('datetime'),
        await named.nth(1).getAttribute('datetime'),
      ]
      await page.locator('h2').click()
      await page.keyboard.press('s')
      await page.getByText('2 drafts approved for the times named').first().waitFor()
      expect([
        (await until(drafts[0]!, 'approved')).post_at,
        (await until(drafts[2]!, 'approved')).post_at,
      ]).toEqual(times)
      await page.keyboard.press('z')
      await until(drafts[0]!, 'drafted')
      await until(drafts[2]!, 'drafted')
      await page.close()
    },
    LONG_MS,
  )

  test(
    'shows a batch side by side, where each draft is decided as anywhere',
    async () => {
      context.complaints.length = 0
      const page = await openTab(context, app, `/console/inbox/draft/${drafts[0]}`)
      const post = page.getByLabel('The post')
      const cards = page.getByRole('list', { name: 'Side by side' }).locator('.batch-text')
      const shown = (texts: string[]) =>
        eventually(
          () => cards.allTextContents(),
          (found) => isDeepStrictEqual(found, texts),
        )
      const isOpen = (text: string) =>
        eventually(
          () => post.inputValue(),
          (value) => value === text,
        )
      await post.waitFor()
      await page.getByRole('button', { name: 'Side by side' }).waitFor()
      await page.keyboard.press('v')
      await shown(TEXTS)
      await expectAccessible(page, 'batch')
      await page.keyboard.press('2')
      await isOpen(TEXTS[1]!)
      await expectAccessible(page, 'batch-picked')
      await page.keyboard.press('x')
      await page.getByRole('button', { name: 'Not true' }).waitFor()
      await page.keyboard.press('1')
      expect(await until(drafts[1]!, 'rejected')).toMatchObject({ reject_reason: 'Not true' })
      await isOpen(TEXTS[2]!)
      await shown([TEXTS[0]!, TEXTS[2]!])
      await page.keyboard.press('z')
      await shown(TEXTS)
      const theirs = 'Call before they do, said Olga.'
      await app.send('PATCH', `items/${drafts[2]}`, { body: { body: theirs } })
      await shown([TEXTS[0]!, TEXTS[1]!, theirs])
      await page.locator('.batch-card').first().click()
      await isOpen(TEXTS[0]!)
      // Z is pressed before the page knows that it is approved.
      await page.route('**/approve', async (route) => {
        const response = await route.fetch()
        await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
        await route.fulfill({ response })
      })
      await page.keyboard.press('s')
      const approved = await until(drafts[0]!, 'approved')
      expect([approved.body, approved.post_at === null]).toEqual([TEXTS[0], false])
      await page.keyboard.press('z')
      await until(drafts[0]!, 'drafted')
      await page.keyboard.press('v')
      await page.getByRole('list', { name: 'What waits' }).waitFor()
      expect(new URL(page.url()).search).toBe('')
      await app.send('PATCH', `items/${drafts[2]}`, { body: { body: TEXTS[2] } })
      expect(context.complaints).toEqual([])
      await page.close()
    },
    LONG_MS,
  )

  test(
    'has read what is next before it is chosen',
    async () => {
      const page = await context.newPage()
      const answered = new Set<string>()
      page.on('requestfinished', (request) => answered.add(request.url().split('/').at(-1)!))
      await page.route('**/growth/items/*', async (route) => {
        await new Promise((resolve) => setTimeout(resolve, SLOW_MS))
        await route.continue()
      })
      await page.goto(`${app.url}/console/inbox/draft/${drafts[0]}`)
      await eventually(
        () => drafts.every((id) => answered.has(id)),
        (all) => all,
      )
      await page.evaluate(WATCH_BONES)
      for (const text of TEXTS.slice(1)) {
        await page.keyboard.press('j')
        await eventually(
          () => page.getByLabel('The post').inputValue(),
          (value) => value === text,
        )
      }
      expect(await page.evaluate<number>('window.bones')).toBe(0)
      await page.close()
    },
    LONG_MS,
  )

  test(
    'stays where one has scrolled to while others decide, and reads little again',
    async () => {
      const { tenantId, key } = await app.newWorkspace()
      await insertItems(app, tenantId, { count: MANY, body: 'Draft' })
      await app.owner`update item set body = 'Draft ' || id where tenant_id = ${tenantId}`
      const person = await signedInAs(app, tenantId, { name: 'Mia Many', role: 'owner' })
      const own = await browserOf(browser, app, person)
      const page = await openTab(own, app, '/console/inbox')
      let reads = 0
      page.on('request', (request) => {
        if (request.url().includes('/api/v1/inbox')) reads++
      })
      await eventually(
        () => page.evaluate<string>(TO_END),
        (last) => last === `${MANY}`,
      )
      await page.evaluate(TO_MIDDLE)
      const before = await page.evaluate<{ text: string }>(FIRST_ROW)
      const [first] = await app.owner<{ id: string }[]>`select id from item
        where tenant_id = ${tenantId} order by id limit 1`
      reads = 0
      await app.send('POST', `items/${first!.id}/reject`, { key, body: {} })
      await page
        .getByLabel('The list')
        .getByText(`${MANY - 1} waiting`)
        .waitFor()
      expect(await page.evaluate<{ text: string }>(FIRST_ROW)).toEqual(before)
      expect(reads).toBeLessThanOrEqual(3)
      await own.close()
    },
    LONG_MS,
  )
})
