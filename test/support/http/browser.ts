/** A real Chromium for tests, if the machine has one. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const USUAL = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

/** The path of a Chromium: the variable CHROMIUM, else the usual places. */
export const browserPath = (): string | undefined =>
  [process.env.CHROMIUM ?? '', ...USUAL].find((path) => path !== '' && existsSync(path))

/** Makes no requests to the internet. Chromium's own sandbox does not run as root. */
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const launchBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    headless: true,
    args: process.getuid?.() === 0 ? [...FLAGS, '--no-sandbox'] : FLAGS,
  })
