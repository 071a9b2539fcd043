/** The page of the API's reference in a real Chromium. */
import { describe, expect, test } from 'bun:test'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { use, useSharedApp } from '#test/support/use'

const path = browserPath()
if (!path) console.warn('No Chromium here: nobody looks at the page of the reference.')

/** It reads a document of two megabytes, on a machine that may be busy. */
const PATIENCE_MS = 60_000

describe.skipIf(!path)('the page', () => {
  const app = useSharedApp()
  const browser = use(openBrowser)

  test(
    'shows an operation, with nothing from elsewhere and nothing that its policy forbids',
    async () => {
      const page = await browser.newPage()
      page.setDefaultTimeout(PATIENCE_MS)
      const [complaints, hosts]: [string[], Set<string>] = [[], new Set()]
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
      })
      page.on('pageerror', ({ message }) => complaints.push(message))
      page.on('request', (request) => {
        const { protocol, origin } = new URL(request.url())
        if (protocol !== 'data:') hosts.add(origin)
      })
      await page.goto(`${app.url}/docs`)
      await page.locator('.opblock-tag[data-tag="growth.automation"]').click()
      const operation = page.locator('.opblock', { hasText: 'growth.automation.pauseAll' }).first()
      await operation.locator('.opblock-summary-control').click()
      await operation.locator('.responses-wrapper').waitFor()
      expect(await operation.textContent()).toContain('Idempotency-Key')
      expect(await page.getByRole('button', { name: /authorize|try it out/i }).count()).toBe(0)
      expect({ complaints, hosts: [...hosts] }).toEqual({ complaints: [], hosts: [app.url] })
      await page.close()
    },
    2 * PATIENCE_MS,
  )
})
