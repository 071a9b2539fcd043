/** The console over HTTP: its page for a signed-in person, and its files for anybody. */
import { AppError } from '#kernel/errors'
import { encodingOf } from '../encoding.ts'
import type { Incoming } from '../incoming.ts'
import { html } from '../pages/html.ts'
import { pageResponse, redirect } from '../pages/layout.ts'
import { enter, type PageDeps, pageRoute, run, signedInPerson, toSignIn } from '../pages/page.ts'
import { errorResponse, requestIdOf } from '../respond.ts'
import type { Route } from '../route.ts'
import { isCurrent } from '../validators.ts'
import type { ConsoleAsset, ConsoleBundle, ConsoleState } from './bundle.ts'
import type { OtherBuilds } from './other-builds.ts'
import { bootOf, CONSOLE_PATH, CONSOLE_POLICY, consolePage } from './page.ts'

/** Names of files have a dot; places of the console have none. */
const FILE = /^\/console\/([^/]+\.[a-z0-9]+)$/

const A_YEAR_S = 31_536_000

const assetResponse = (request: Request, { type, etag, plain, gzip }: ConsoleAsset): Response => {
  const headers: Record<string, string> = {
    'content-type': type,
    'content-security-policy': CONSOLE_POLICY,
    'cache-control': `public, max-age=${A_YEAR_S}, immutable`,
    'cross-origin-resource-policy': 'same-origin',
    vary: 'accept-encoding',
    'x-request-id': requestIdOf(request),
    etag,
  }
  if (isCurrent(request, etag)) return new Response(null, { status: 304, headers })
  const zips = gzip && encodingOf(request.headers.get('accept-encoding'), ['gzip']) === 'gzip'
  if (!zips) return new Response(plain, { headers })
  return new Response(gzip, {
    headers: { ...headers, 'content-encoding': 'gzip', etag: etag.replace('"', 'W/"') },
  })
}

/** What is said until the build has ended. */
const RETRY_S = 1

/** While the console is being built, nobody knows yet which files it has. */
const noSuchFile = (request: Request, state: ConsoleState): Response =>
  errorResponse(
    state === 'building'
      ? new AppError('unavailable', 'the console is being built, try again', {
          retryAfter: RETRY_S,
        })
      : new AppError('not_found', 'the console has no such file; it may be of another build'),
    requestIdOf(request),
  )

const unbuilt = (state: 'building' | 'failed'): Response =>
  state === 'building'
    ? pageResponse({
        title: 'One moment',
        body: html`<p>The console is being built, as after every start from the sources. This page tries again by itself.</p>`,
        status: 503,
        headers: { refresh: String(RETRY_S), 'retry-after': String(RETRY_S) },
      })
    : pageResponse({
        title: 'The console could not be built',
        body: html`<p>The log of the server says why. Everything else works, by <a href="/?plain=1">the plain pages</a> and the API.</p>`,
        status: 503,
      })

const DEFAULT_ZONE = 'UTC'

const page = async (
  deps: PageDeps,
  incoming: Incoming,
  bundle: ConsoleBundle,
): Promise<Response> => {
  const { body } = await enter(deps, incoming, { id: 'app.session.get', input: {} })
  const { profile } = await run(deps, incoming, { id: 'growth.profile.get', input: {} })
  return consolePage(
    bundle,
    bootOf(bundle, {
      session: body.session,
      timeZone: profile.time_zone ?? DEFAULT_ZONE,
      publicUrl: deps.identity.publicUrl,
      origins: deps.origins,
    }),
  )
}

export interface ConsoleDeps extends PageDeps {
  otherBuilds: OtherBuilds
}

const showFile = async (
  { otherBuilds }: ConsoleDeps,
  incoming: Incoming,
  { file, state }: { file: string; state: ConsoleState },
): Promise<Response> => {
  const { request } = incoming
  const asset = typeof state === 'object' ? state.assets.get(file) : undefined
  if (asset) return assetResponse(request, asset)
  return (await otherBuilds.find(incoming, file)) ?? noSuchFile(request, state)
}

const show = async (deps: ConsoleDeps, incoming: Incoming): Promise<Response> => {
  const state = deps.console()
  const { pathname, search } = new URL(incoming.request.url)
  const [, file] = FILE.exec(pathname) ?? []
  if (file !== undefined) return showFile(deps, incoming, { file, state })
  if (state === 'off') return redirect('/')
  if (!(await signedInPerson(deps, incoming))) return toSignIn(deps, incoming, pathname + search)
  return typeof state === 'object' ? page(deps, incoming, state) : unbuilt(state)
}

export const consoleRoutes = (deps: ConsoleDeps): Route[] =>
  [CONSOLE_PATH, `${CONSOLE_PATH}/*`].map((path) =>
    pageRoute(deps, 'GET', path, (_, incoming) => show(deps, incoming)),
  )
