/** A real Chromium for tests, if the machine has one. */
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'

/** The headless shell first: the same engine, without the windows around it that no test sees. */
const USUAL = [
  '/usr/bin/chromium-headless-shell',
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

/** What Playwright switches off; its list is replaced by the one that is given. */
const OFF_IN_PLAYWRIGHT = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'GlobalMediaControls',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'BlockOriginHeaderModificationOnRedirect',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'Translate',
  'AutoDeElevate',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'msForceBrowserSignIn',
  'msEdgeUpdateLaunchServicesPreferredVersion',
]

/**
 * Chromium draws the suggestions of its address bar, which no test sees, as pages of their own.
 * Each tab prepares them, which takes more processor time than the page that a test opens.
 */
const SUGGESTIONS = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup']

/** Makes no requests to the internet. Chromium's own sandbox does not run as root. */
const FLAGS = [
  `--disable-features=${[...OFF_IN_PLAYWRIGHT, ...SUGGESTIONS].join()}`,
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const launchBrowser = (executablePath: string, flags: string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath,
    headless: true,
    args: [...FLAGS, ...flags, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  })

/** In tests a page lives for seconds: compiling its code for speed takes more than it saves. */
const SHORT_LIVED = ['--js-flags=--no-turbofan --no-maglev']

/** The browser that the files of a worker share. It ends with the worker. */
let shared: Promise<Browser> | undefined

const sharedBrowser = async (): Promise<Browser> => {
  const former = await shared?.catch(() => undefined)
  if (!former?.isConnected()) shared = launchBrowser(browserPath() ?? '', SHORT_LIVED)
  return shared!
}

/** Of a browser, what a test may use whose browser is not its own. */
export type TestBrowser = Pick<Browser, 'newContext' | 'newPage'>

/** For `use`: a browser without cookies, whose pages end with the file or `describe`. */
export const openBrowser = async (): Promise<TestBrowser & AsyncDisposable> => {
  const browser = await sharedBrowser()
  const contexts: BrowserContext[] = []
  const newContext: Browser['newContext'] = async (options) => {
    const context = await browser.newContext(options)
    contexts.push(context)
    return context
  }
  return {
    newContext,
    newPage: async (options) => (await newContext(options)).newPage(),
    async [Symbol.asyncDispose]() {
      await Promise.all(contexts.map((context) => context.close()))
    },
  }
}
