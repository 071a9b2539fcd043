/** Tabs of a real browser that show the console. */
import { expect } from 'bun:test'
import { join } from 'node:path'
import axe from 'axe-core'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { TestApp } from '../app.ts'
import type { TestBrowser } from '../http/browser.ts'
import type { SignedIn } from '../session.ts'

const HEIGHT = 800
/** For a machine that does much else. */
const PATIENCE_MS = 60_000

/** What no page of the console may do, as sentences. */
export interface Watched {
  complaints: string[]
}

/** Collects what any page of the browser does that none may: it grows as they do it. */
export const watchedIn = (context: BrowserContext, url: string): string[] => {
  const complaints: string[] = []
  context.on('console', (message) =>
    complaints.push(`${message.type()}: ${message.text()} at ${message.location().url}`),
  )
  context.on('weberror', (error) => complaints.push(`error: ${error.error().message}`))
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== url && !['data:', 'blob:'].includes(protocol))
      complaints.push(`asked ${request.url()}`)
  })
  return complaints
}

/** A browser in which this person is signed in. */
export const browserOf = async (
  browser: TestBrowser,
  { url }: Pick<TestApp, 'url'>,
  { key }: Pick<SignedIn, 'key'>,
  options: BrowserContextOptions = {},
): Promise<BrowserContext & Watched> => {
  const context = await browser.newContext({
    viewport: { width: 1280, height: HEIGHT },
    ...options,
  })
  await context.addCookies([{ name: 'tendril', value: key, url, httpOnly: true, sameSite: 'Lax' }])
  return Object.assign(context, { complaints: watchedIn(context, url) })
}

export const openTab = async (
  context: BrowserContext,
  { url }: Pick<TestApp, 'url'>,
  path = '/console',
): Promise<Page> => {
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  await page.goto(`${url}${path}`)
  await page.locator('main h1').waitFor()
  return page
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

interface Violation {
  id: string
  nodes: { html: string; failureSummary: string }[]
}

const violationsOf = async (page: Page): Promise<string[]> => {
  const found = await page.evaluate<Violation[]>(
    `axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then((r) => r.violations)`,
  )
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  )
}

/** How a page is looked at: as wide as this, and in these colours. */
export interface Look {
  width: number
  colours: 'light' | 'dark' | 'forced'
}

/** All of them: `npm run pictures` takes these. */
export const EVERY_LOOK: readonly Look[] = [320, 390, 1280].flatMap((width) =>
  (['light', 'dark', 'forced'] as const).map((colours) => ({ width, colours })),
)

/** Each width and each choice of colours, in few looks. */
const FEW_LOOKS: readonly Look[] = [
  { width: 1280, colours: 'light' },
  { width: 390, colours: 'dark' },
  { width: 320, colours: 'forced' },
]

export const lookAs = async (page: Page, { width, colours }: Look): Promise<void> => {
  await page.setViewportSize({ width, height: HEIGHT })
  await page.emulateMedia({
    colorScheme: colours === 'light' ? 'light' : 'dark',
    forcedColors: colours === 'forced' ? 'active' : 'none',
    // Nothing is looked at while it still moves.
    reducedMotion: 'reduce',
  })
}

/** What is wrong with a page for people with weak eyes or a screen reader, as sentences. */
export const flawsAt = async (page: Page, look: Look): Promise<string[]> => {
  await lookAs(page, look)
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
  const flaws = await violationsOf(page)
  if (wide > look.width) flaws.push(`it is ${wide} wide`)
  const moving = await page.evaluate<number>('document.getAnimations().length')
  if (moving > 0) flaws.push(`${moving} parts move, for people who asked for no motion`)
  return flaws
}

export const loadAxe = (page: Page): Promise<unknown> => page.evaluate(axe.source)

/** As at the start: a desk, in the light. */
const lookAsUsual = async (page: Page): Promise<void> => {
  await lookAs(page, { width: 1280, colours: 'light' })
  await page.emulateMedia({ reducedMotion: 'no-preference' })
}

/** Where to save pictures for people to look at. */
const pictures = process.env.SCREENSHOTS

/** Nothing is wrong for people with a narrow screen, weak eyes or a screen reader. */
export const expectAccessible = async (page: Page, name: string): Promise<void> => {
  await loadAxe(page)
  for (const look of pictures ? EVERY_LOOK : FEW_LOOKS) {
    const { width, colours } = look
    expect([name, colours, width, await flawsAt(page, look)]).toEqual([name, colours, width, []])
    if (pictures) await page.screenshot({ path: join(pictures, `${name}-${colours}-${width}.png`) })
  }
  await lookAsUsual(page)
}
