/** Tabs of a real browser that show the console. */
import { expect } from 'bun:test'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { TestApp } from '../app.ts'
import type { SignedIn } from '../session.ts'

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
  browser: Browser,
  { url }: Pick<TestApp, 'url'>,
  { key }: Pick<SignedIn, 'key'>,
): Promise<BrowserContext & Watched> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
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

/** Where to save pictures for people to look at. */
const pictures = process.env.SCREENSHOTS

/** Nothing is wrong for people with a narrow screen, weak eyes or a screen reader. */
export const expectAccessible = async (page: Page, name: string): Promise<void> => {
  await page.evaluate(axe.source)
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [320, 390, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
      expect([name, colorScheme, width, await violationsOf(page), wide <= width]).toEqual([
        name,
        colorScheme,
        width,
        [],
        true,
      ])
      if (pictures)
        await page.screenshot({ path: join(pictures, `${name}-${colorScheme}-${width}.png`) })
    }
  await page.setViewportSize({ width: 1280, height: 800 })
}
