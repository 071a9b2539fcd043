/** Drafts in the inbox, decided in a real Chromium by keys alone. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import type { BrowserContext, Page } from 'playwright-core'
import type { ConsoleState } from '#edge/console/bundle'
import { builtConsole } from '#test/support/console/built'
import { browserOf, expectAccessible, openTab, type Watched } from '#test/support/console/tab'
import { eventually } from '#test/support/eventually'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { signedInAs } from '#test/support/session'
import { use, useApp } from '#test/support/use'
import { ARTICLE, HOSTILE, HOSTILE_MARKDOWN } from './texts.ts'

const path = browserPath()
if (!path) console.warn('No Chromium here: nobody decides drafts in the console.')

const LONG_MS = 240_000
/** Whether what was typed over it is in the browser's storage. */
const isKept = (id: string) =>
  `Object.keys(localStorage).some((name) => name.startsWith('tendril.typed:') && name.includes('${id}'))`

describe.skipIf(!path)('a draft', () => {
  let bundle: ConsoleState = 'building'
  const app = useApp({ overrides: { console: () => bundle, lanes: [] } })
  const browser = use(openBrowser)
  let context: BrowserContext & Watched

  const write = async (body: string, kind = 'post'): Promise<string> =>
    (await app.send('POST', 'items', { body: { body, kind } })).body.item.id
  const itemOf = async (id: string) => (await app.send('GET', `items/${id}`)).body.item
  const until = (id: string, status: string) =>
    eventually(
      () => itemOf(id),
      (item) => item.status === status,
    )

  /** What is approved with a change that was not saved, and taken back, shows the change. */
  const backWithWhatWasApproved = async (page: Page, id: string, text: string) => {
    const row = page.getByRole('button', { name: text.split('\n')[0]! })
    await row.first().click()
    await page.getByLabel('The post').waitFor()
    await page.keyboard.press('e')
    await page.keyboard.type('\nSoon more.')
    await page.keyboard.press('Control+Enter')
    await until(id, 'approved')
    await page.getByText('Approved for').first().waitFor()
    await page.locator('.inbox-pane').focus()
    await page.keyboard.press('z')
    await until(id, 'drafted')
    await row.first().click()
    await page.getByLabel('The post').waitFor()
    expect(await page.getByLabel('The post').inputValue()).toBe(`${text}\nSoon more.`)
  }

  beforeAll(async () => {
    bundle = (await builtConsole()).bundle
    const olga = await signedInAs(app, app.tenantId, { name: 'Olga Owner', role: 'owner' })
    context = await browserOf(browser, app, olga)
    const { channels } = (await app.send('GET', 'channels')).body
    const posts = channels.find(({ name }: { name: string }) => name === 'posts')
    await app.send('PUT', `channels/${posts.id}`, {
      body: {
        cadence: {
          days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
          times: ['08:30', '16:00'],
        },
      },
    })
  })

  test(
    'is edited in place, approved for the time on the button, and taken back',
    async () => {
      context.complaints.length = 0
      const id = await write('Every delay starts at the dock.')
      const page = await openTab(context, app, `/console/inbox/draft/${id}`)
      await page.getByLabel('The post').waitFor()
      await page.keyboard.press('e')
      await page.keyboard.type('\n\nSee dock.example.com #late\u200b')
      await page.getByText('1 character nobody can see: zero-width space.').waitFor()
      await expectAccessible(page, 'draft-edited')
      const text = 'Every delay starts at the dock.\n\nSee dock.example.com #late\u200b'
      const mark = createHash('sha256').update(text).digest('hex')
      await page.getByText(`#${mark.slice(0, 8)}`).waitFor()
      await page.keyboard.press('Escape')
      await eventually(
        () => itemOf(id),
        ({ revision }) => revision === 2,
      )
      const button = page.getByRole('button', { name: /^Approve \w{3} \d/ })
      const first = await button.textContent()
      await page.keyboard.press(']')
      const said = (await eventually(
        () => button.textContent(),
        (text) => text !== first,
      ))!
      await button.focus()
      await page.keyboard.press('s')
      const approved = await until(id, 'approved')
      await page.waitForFunction(`document.activeElement.matches('.inbox-pane')`)
      expect([approved.body, approved.content_hash]).toEqual([text, mark])
      const time = new Date(approved.post_at).toLocaleTimeString('en-GB', {
        hour: '2-digit',
        minute: '2-digit',
        timeZone: 'UTC',
      })
      expect(said).toContain(time)
      await page.getByText('Approved for').first().waitFor()
      await page.keyboard.press('z')
      expect((await until(id, 'drafted')).proposed_at).toBe(approved.post_at)
      await backWithWhatWasApproved(page, id, text)
      expect(context.complaints).toEqual([])
      await page.close()
    },
    LONG_MS,
  )

  test(
    'is rejected with a reason, which goes away when the rejection is taken back',
    async () => {
      const id = await write('Said too often.')
      const page = await openTab(context, app, `/console/inbox/draft/${id}`)
      await page.getByLabel('The post').waitFor()
      await page.keyboard.press('x')
      await expectAccessible(page, 'draft-rejecting')
      await page.keyboard.press('3')
      expect(await until(id, 'rejected')).toMatchObject({ reject_reason: 'Said before' })
      await page.getByText('Rejected').first().waitFor()
      await page.keyboard.press('z')
      await until(id, 'drafted')
      expect((await app.send('GET', `items/${id}/comments`)).body.comments).toEqual([])
      await page.close()
    },
    LONG_MS,
  )

  test(
    'is tagged, and an older text of it is taken back into the editor',
    async () => {
      const id = await write('The first text.')
      const first = { body: `The second text. ${HOSTILE}`, tags: ['<b>Docks</b>', 'x'.repeat(40)] }
      await app.send('PATCH', `items/${id}`, { body: first })
      const page = await openTab(context, app, `/console/inbox/draft/${id}`)
      await page.getByLabel('The post').waitFor()
      const tagged = (wanted: string[]) =>
        eventually(
          () => itemOf(id),
          ({ tags }) => JSON.stringify(tags.toSorted()) === JSON.stringify(wanted.toSorted()),
        )
      await page.keyboard.press('t')
      await page.keyboard.type('Delays')
      await page.keyboard.press('Enter')
      await tagged([...first.tags, 'Delays'])
      await page.getByRole('button', { name: 'Remove the tag <b>Docks</b>' }).press('Enter')
      await tagged([first.tags[1]!, 'Delays'])
      await page.getByText('No longer tagged <b>Docks</b>').first().waitFor()
      await page.keyboard.press('z')
      await tagged([...first.tags, 'Delays'])
      await page.getByText('2 versions').click()
      await page.getByText('Version 1', { exact: true }).click()
      await page.getByText('Version 2', { exact: true }).click()
      await expectAccessible(page, 'draft-versions')
      await page.getByRole('button', { name: 'Take this text back' }).press('Enter')
      expect(await page.getByLabel('The post').inputValue()).toBe('The first text.')
      expect((await itemOf(id)).revision).toBe(2)
      await page.keyboard.press('Escape')
      const again = await eventually(
        () => itemOf(id),
        ({ revision }) => revision === 3,
      )
      expect(again.body).toBe('The first text.')
      await page.close()
    },
    LONG_MS,
  )

  test(
    'that is an article is read as it goes out, and edited by a key',
    async () => {
      context.complaints.length = 0
      const id = await write(`${ARTICLE}\n\n${HOSTILE_MARKDOWN}`, 'article')
      const page = await openTab(context, app, `/console/inbox/article/${id}`)
      await page.getByRole('heading', { name: 'Why docks are late', level: 2 }).waitFor()
      await page.getByRole('heading', { name: 'What we changed', level: 3 }).waitFor()
      await page.getByText(/words, \d+ minutes? to read/).waitFor()
      expect(await page.locator('.reading li').count()).toBe(3)
      expect(await page.locator('.reading :is(a, img, script, iframe)').count()).toBe(0)
      await expectAccessible(page, 'article')
      await page.keyboard.press('e')
      await page.getByLabel('The article').waitFor()
      await page.keyboard.type('On time. ')
      await page.keyboard.press('Escape')
      await page.getByRole('heading', { name: 'On time. Why docks are late' }).waitFor()
      const { item } = await eventually(
        async () => (await app.send('GET', `items/${id}`)).body,
        (read) => read.item.revision === 2,
      )
      expect(item.title).toBe('On time. Why docks are late')
      expect(context.complaints).toEqual([])
      await page.close()
    },
    LONG_MS,
  )

  test(
    'and others are decided together, and taken back by one undo',
    async () => {
      const ids = [await write('Together, one.'), await write('Together, two.')]
      const changed = await write('Together, three.')
      const page = await openTab(context, app, `/console/inbox/draft/${ids[0]}`)
      await page.getByLabel('The post').waitFor()
      await page.getByLabel('Select: Together, one.').waitFor()
      await page.keyboard.press('Space')
      await page.getByText('1 selected').waitFor()
      for (const text of ['Together, two.', 'Together, three.'])
        await page.getByLabel(`Select: ${text}`).press('Space')
      await page.getByText('3 selected').waitFor()
      await expectAccessible(page, 'together')
      await app.send('PATCH', `items/${changed}`, { body: { body: 'Not what was seen.' } })
      await page.locator('h2').click()
      await page.keyboard.press('s')
      await page.getByText('2 drafts approved for the times named, 1 draft not').first().waitFor()
      const times = []
      for (const id of ids) times.push((await until(id, 'approved')).post_at)
      expect(new Set([...times, null]).size).toBe(3)
      expect((await itemOf(changed)).status).toBe('drafted')
      await page.keyboard.press('z')
      for (const id of ids) await until(id, 'drafted')
      await page.close()
    },
    LONG_MS,
  )

  test(
    'whose text somebody else changed meanwhile is not decided: both texts stand side by side',
    async () => {
      const id = await write('The first text.')
      const page = await openTab(context, app, `/console/inbox/draft/${id}`)
      await page.getByLabel('The post').fill('My text.')
      await app.send('PATCH', `items/${id}`, { body: { body: 'Their text.' } })
      await page.keyboard.press('Control+Enter')
      await page.getByRole('heading', { name: /wrote another text/ }).waitFor()
      await page.getByText('Their text.').first().waitFor()
      await page.getByText('My text.').first().waitFor()
      await expectAccessible(page, 'draft-conflict')
      expect(await itemOf(id)).toMatchObject({ status: 'drafted', body: 'Their text.' })
      await page.getByRole('button', { name: 'Go on with yours' }).click()
      await page.keyboard.press('a')
      expect(await until(id, 'approved')).toMatchObject({ body: 'My text.' })
      await page.close()
    },
    LONG_MS,
  )

  test(
    'that is too long cannot be approved, and what was typed outlives the tab',
    async () => {
      const id = await write('Short.')
      await context.route('**/growth/items/*', (route) =>
        route.request().method() === 'PATCH'
          ? route.fulfill({ status: 400, json: { error: { code: 'bad_request', message: 'No.' } } })
          : route.continue(),
      )
      const first = await openTab(context, app, `/console/inbox/draft/${id}`)
      await first.getByLabel('The post').fill('x'.repeat(300))
      await first.getByText('It has 300 characters').waitFor()
      await expectAccessible(first, 'draft-too-long')
      await first.keyboard.press('Control+Enter')
      await eventually(
        () => first.evaluate<boolean>(isKept(id)),
        (kept) => kept,
      )
      // What is sent as a tab closes is not intercepted, so that the refusal comes before.
      await first.getByLabel('The post').blur()
      await first.getByText('Not saved yet; this browser keeps it.').first().waitFor()
      await first.close()
      expect(await itemOf(id)).toMatchObject({ status: 'drafted', body: 'Short.' })
      const again = await openTab(context, app, `/console/inbox/draft/${id}`)
      await eventually(
        () => again.getByLabel('The post').inputValue(),
        (value) => value === 'x'.repeat(300),
      )
      await again.close()
      await context.unroute('**/growth/items/*')
      await app.send('PATCH', `items/${id}`, { body: { body: 'Theirs, meanwhile.' } })
      const last = await openTab(context, app, `/console/inbox/draft/${id}`)
      await last.getByRole('heading', { name: /wrote another text/ }).waitFor()
      expect(await last.getByLabel('The post').inputValue()).toBe('x'.repeat(300))
      await last.getByRole('button', { name: 'Take theirs' }).click()
      expect(await last.getByLabel('The post').inputValue()).toBe('Theirs, meanwhile.')
      expect(await last.evaluate<boolean>(isKept(id))).toBe(false)
      await last.close()
    },
    LONG_MS,
  )
})
