/**
 * Texts that programs like to change on their way are approved in the console by key, half of them
 * typed or pasted there, and posted on the sandbox: what arrives is what was on the screen, byte by
 * byte, and its mark and count are the server's. `npm run console:texts -- --count 200 --seed 1`.
 */
import type { ConsoleState } from '#edge/console/bundle'
import { testApp } from '#test/support/app'
import { builtConsole } from '#test/support/console/built'
import { browserPath, launchBrowser } from '#test/support/http/browser'
import { type Verdict, verdictOn } from '../../faults/ledger.ts'
import { numbers } from '../../faults/numbers.ts'
import { alone } from '../../faults/own-database.ts'
import { approvableTexts } from './approvable.ts'
import { walkTexts } from './walk.ts'

interface TextsOptions {
  count: number
  seed: number
}

const runTexts = async ({ count, seed }: TextsOptions): Promise<Verdict> => {
  await using stack = new AsyncDisposableStack()
  const path = browserPath()
  if (!path) throw new Error('there is no Chromium; CHROMIUM may name one')
  const bundle: ConsoleState = (await builtConsole()).bundle
  const app = stack.use(await testApp({ overrides: { console: () => bundle } }))
  const browser = await launchBrowser(path)
  stack.defer(() => browser.close())
  const texts = approvableTexts(count, numbers(seed))
  const differences = await walkTexts(app, browser, texts)
  const distinct = new Set(texts.map(({ text }) => text)).size
  return verdictOn({
    counts: { texts: count, seed, differences: differences.length },
    never: { repeated: count - distinct },
    broken: differences,
  })
}

await alone('texts', { count: 200, seed: 1 }, runTexts)
