/** A real Chromium for tests, where the machine has one. */
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

/** The path of a Chromium: of CHROMIUM, else where systems put it. */
export const browserPath = (): string | undefined => [process.env.CHROMIUM ?? '', ...USUAL].find((path) => path !== '' && existsSync(path))

/** It asks nobody on the internet for anything. Root may not run its sandbox. */
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const launchBrowser = (executablePath: string): Promise<Browser> =>
  chromium.launch({ executablePath, headless: true, args: process.getuid?.() === 0 ? [...FLAGS, '--no-sandbox'] : FLAGS })
