/** The console's one HTML page, which carries who is signed in as data. */
import type { Origins } from '../origin.ts'
import type { ConsoleBundle } from './bundle.ts'

export const CONSOLE_PATH = '/console'

/** What the page is told, so that it need not ask. `src/console/boot.ts` reads it. */
export interface BootData {
  session: object
  /** Of the profile, as the IANA names it. */
  time_zone: string
  /** The path of the shared worker's script. */
  worker: string
  /** The script that the page began with, which names the build. */
  build: string
  public_url: string
  /** Where requests that change something are accepted from. */
  origins: string[]
}

/**
 * The scripts come from here alone, and make no script of a text. Workers have the policy of their
 * own answer, so that every file carries it.
 */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types tendril',
].join('; ')

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CONSOLE_POLICY,
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
}

/** JSON that cannot end the element that it stands in. */
const embedded = (data: BootData): string => JSON.stringify(data).replaceAll('<', '\\u003c')

const PLAIN = '/?plain=1'

export const consolePage = (bundle: ConsoleBundle, data: BootData): Response =>
  new Response(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<title>Tendril</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${CONSOLE_PATH}/${bundle.style}">
<script type="application/json" id="boot">${embedded(data)}</script>
<script type="module" src="${CONSOLE_PATH}/${bundle.script}"></script>
</head>
<body>
<div id="root"></div>
<noscript>The console needs scripts. <a href="${PLAIN}">The plain pages</a> do not.</noscript>
</body>
</html>
`,
    { headers: HEADERS },
  )

export const bootOf = (
  { script, worker }: ConsoleBundle,
  {
    session,
    timeZone,
    publicUrl,
    origins,
  }: { session: object; timeZone: string; publicUrl: string; origins: Origins },
): BootData => ({
  session,
  time_zone: timeZone,
  worker: `${CONSOLE_PATH}/${worker}`,
  build: script,
  public_url: publicUrl,
  origins: origins.accepted(),
})
