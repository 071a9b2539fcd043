import { expect, test } from 'bun:test'
import { chromium } from 'playwright-core'
import { launchBrowser } from './browser.ts'

/** A program that is no browser: what Playwright says of it names the arguments that it got. */
const NO_BROWSER = '/usr/bin/false'

/** The last one counts. */
const switchedOff = async (launch: () => Promise<unknown>): Promise<string[]> => {
  const message: string = await launch().then(
    () => '',
    (error: Error) => error.message,
  )
  const [command = ''] = /<launching> .*/.exec(message) ?? []
  return [...command.matchAll(/--disable-features=(\S+)/g)].at(-1)?.[1]?.split(',') ?? []
}

test('what Playwright switches off in a browser stays off', async () => {
  const usual = await switchedOff(() => chromium.launch({ executablePath: NO_BROWSER }))
  expect(usual.length).toBeGreaterThan(10)
  expect(await switchedOff(() => launchBrowser(NO_BROWSER))).toEqual(expect.arrayContaining(usual))
})
