/**
 * Approves texts in the console by key, and compares what was on the screen with what the server
 * stored and what reached the sandbox, byte by byte.
 */
import { createHash } from 'node:crypto'
import type { Page } from 'playwright-core'
import type { TestApp } from '#test/support/app'
import { browserOf, openTab } from '#test/support/console/tab'
import { eventually } from '#test/support/eventually'
import { newStory, type Story } from '#test/support/growth/story'
import type { TestBrowser } from '#test/support/http/browser'
import { signedInAs } from '#test/support/session'
import { type ApprovableText, asStored } from './approvable.ts'

/** How a text gets into its draft. */
type Way = 'sent' | 'typed' | 'pasted'

/** How it is approved. */
type Key = 'p' | 'a' | 's' | 'Control+Enter'

interface Walked extends ApprovableText {
  id: string
  way: Way
  key: Key
}

/** What somebody sees, as the page itself computes it. */
interface Screen {
  /** Hashes of the text area and of the coloured text in front of it. */
  text: string
  layer: string
  mark: string
  /** `12 of 280` and `14 bytes`. */
  figures: string[]
}

const WAYS: readonly Way[] = ['sent', 'typed', 'sent', 'pasted']
/** The first key is for a draft that is not being edited. */
const KEYS: Record<Way, readonly Key[]> = {
  sent: ['p', 'a', 's'],
  typed: ['p', 'Control+Enter', 'a'],
  pasted: ['Control+Enter', 's', 'p'],
}
const MARK = /^#[0-9a-f]{8}$/

const SCREEN = `(async () => {
  const hash = async (text) => [...new Uint8Array(
    await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))]
    .map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const pieces = [...document.querySelectorAll('.layer > span')]
  const [count, bytes] = document.querySelectorAll('.post-foot > span:not(.mark-of)')
  return {
    text: await hash(document.querySelector('.post-text').value),
    layer: await hash(pieces.map(({ textContent }) => textContent).join('')),
    mark: document.querySelector('.mark-of').textContent,
    figures: [count, bytes].map(({ textContent }) => textContent),
  }
})()`

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The id in the address, once its draft is on the screen with its mark; else undefined. */
const SHOWN = `(() => {
  const mark = document.querySelector('.mark-of')?.textContent ?? ''
  return document.querySelector('.post-text') !== null && ${MARK}.test(mark)
    ? location.pathname.split('/').at(-1)
    : undefined
})()`

/** The draft on the screen, once it is another one. */
const shownDraft = async (page: Page, before: string | undefined): Promise<string> =>
  (await eventually(
    () => page.evaluate<string | undefined>(SHOWN),
    (id) => id !== undefined && id !== before,
  ))!

const enter = async (page: Page, { text, way, key }: Walked): Promise<void> => {
  if (way === 'sent') return
  await page.keyboard.press('e')
  await page.keyboard.press('Control+A')
  if (way === 'typed') await page.keyboard.insertText(text)
  else {
    await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    await page.keyboard.press('Control+V')
  }
  if (key !== 'Control+Enter') await page.keyboard.press('Escape')
  await page.locator('.mark-of', { hasText: MARK }).waitFor()
}

const approve = async (page: Page, key: Key): Promise<void> => {
  // The free times are read beside the text, and may come after it.
  if (key === 's' || key === 'Control+Enter')
    await page.getByRole('button', { name: /^Approve \w{3} \d/ }).waitFor()
  await page.keyboard.press(key)
  if (key !== 'p') return
  await page.getByRole('dialog').getByRole('button', { name: 'Post now' }).press('Enter')
}

const drafts = async (story: Story, texts: readonly ApprovableText[]): Promise<Walked[]> => {
  const made: Walked[] = []
  for (const [number, one] of texts.entries()) {
    const way = WAYS[number % WAYS.length]!
    const body = way === 'sent' ? one.text : `Nothing yet, ${number}.`
    const answer = await story.send('POST', 'items', { body: { body } })
    if (answer.status !== 201)
      throw new Error(`${JSON.stringify(one)} is no text for a draft: ${answer.text}`)
    const keys = KEYS[way]
    const key = keys[Math.floor(number / WAYS.length) % keys.length]!
    made.push({ ...one, id: answer.body.item.id, way, key })
  }
  return made
}

const many = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

interface Seen extends Walked {
  screen: Screen
}

/** The hashes of the texts on the sandbox that are this post. */
const sentHashes = async ({ owner }: TestApp, post: string | null): Promise<string[]> =>
  (
    await owner<{ hash: string }[]>`select encode(sha256(convert_to(text, 'UTF8')), 'hex') as hash
      from sandbox.posts where id = ${post}`
  ).map(({ hash }) => hash)

/** What is not as it should be, in words. */
const differencesOf = async (app: TestApp, story: Story, seen: Seen): Promise<string[]> => {
  const { text, id, way, key, kind, screen } = seen
  const item = await postedItem(story, id)
  const stored = asStored(text)
  const hash = sha256(stored)
  const compared: [what: string, is: unknown, should: unknown][] = [
    ['the text on the screen', screen.text, hash],
    ['the coloured text', screen.layer, hash],
    ['the mark', screen.mark, `#${hash.slice(0, 8)}`],
    ['the stored hash', item.content_hash, hash],
    ['the stored text', sha256(item.body), hash],
    ['the text on the sandbox', (await sentHashes(app, item.external_id)).join(), hash],
    ['the count', screen.figures[0], `${item.length} of 280`],
    ['the bytes', screen.figures[1], many(Buffer.byteLength(stored), 'byte')],
  ]
  return compared.flatMap(([what, is, should]) =>
    is === should
      ? []
      : [`${what} is ${is}, not ${should}: ${kind}, ${way}, ${key}, ${JSON.stringify(text)}`],
  )
}

/** Posts what was approved without being posted, and waits for it. */
const postedItem = async (story: Story, id: string) => {
  const itemOf = async () => (await story.send('GET', `items/${id}`)).body.item
  const decided = await eventually(itemOf, ({ status }) => status !== 'drafted')
  if (['approved', 'scheduled'].includes(decided.status)) await story.postNow(id)
  return eventually(itemOf, ({ status }) => status === 'posted')
}

const HOURS = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:15`)

/** A workspace of its own with slots enough, and a browser in which its owner is signed in. */
const placeOf = async (app: TestApp, browser: TestBrowser) => {
  const story = await newStory(app)
  await story.changeChannel('posts', {
    cadence: { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], times: HOURS },
  })
  const olga = await signedInAs(app, story.tenantId, { name: 'Olga Owner', role: 'owner' })
  const context = await browserOf(browser, app, olga)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  return { story, context }
}

/**
 * Drafts the texts, half of them by hand, decides them one after another as the list offers them,
 * and has them posted. Resolves with what differs or what the browser complains of, in words.
 */
export const walkTexts = async (
  app: TestApp,
  browser: TestBrowser,
  texts: readonly ApprovableText[],
): Promise<string[]> => {
  const { story, context } = await placeOf(app, browser)
  const walked = new Map((await drafts(story, texts)).map((one) => [one.id, one]))
  const page = await openTab(context, app, '/console/inbox?show=draft')
  await page.locator('.row').first().waitFor()
  await page.keyboard.press('j')
  const seen: Seen[] = []
  for (let before: string | undefined; walked.size > 0; ) {
    const id = await shownDraft(page, before)
    const one = walked.get(id)
    if (!one) throw new Error(`the console shows ${id}, which nobody wrote for this`)
    await enter(page, one)
    seen.push({ ...one, screen: await page.evaluate<Screen>(SCREEN) })
    await approve(page, one.key)
    walked.delete(id)
    before = id
  }
  const differences: string[] = []
  for (const one of seen) differences.push(...(await differencesOf(app, story, one)))
  await context.close()
  return [...differences, ...context.complaints]
}
