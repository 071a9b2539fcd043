/** The start page: who is signed in, and the addresses of the APIs. */
import type { SessionGrant } from '#store/app/sessions'
import { CONSOLE_PATH } from '../console/page.ts'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { type Html, html } from './html.ts'
import { pageResponse, redirect } from './layout.ts'
import {
  enter,
  type PageDeps,
  pageRoute,
  queryOf,
  signedInPerson,
  toSignIn,
  trustedForm,
} from './page.ts'
import { emailText, roleText } from './words.ts'

const addresses = (publicUrl: string): Html => html`<h2>For programs and agents</h2>
<dl>
<dt>REST</dt><dd>${publicUrl}/api/v1</dd>
<dt>REST reference</dt><dd><a href="/docs">${publicUrl}/docs</a></dd>
<dt>REST documentation (OpenAPI)</dt><dd><a href="/api/v1/openapi.json">${publicUrl}/api/v1/openapi.json</a></dd>
<dt>MCP</dt><dd>${publicUrl}/api/v1/mcp</dd>
<dt>Capability manifest</dt><dd><a href="/.well-known/tendril.json">${publicUrl}/.well-known/tendril.json</a></dd>
</dl>`

const signedOut = (
  publicUrl: string,
): Html => html`<p>Drafts posts, waits for your approval, and posts each one exactly once.</p>
<p><a href="/sign-in">Sign in</a></p>
${addresses(publicUrl)}`

const signedIn = ({ person, workspace }: SessionGrant, publicUrl: string): Html => html`<dl>
<dt>Signed in as</dt><dd>${[person.name, person.email].filter(Boolean).join(', ')}</dd>
<dt>Email</dt><dd>${emailText(person.email_status)}</dd>
<dt>Workspace</dt><dd>${workspace.name}</dd>
<dt>Your role</dt><dd>${roleText(workspace.role)}</dd>
</dl>
<p><a href="${CONSOLE_PATH}">Open the console</a></p>
<p><a href="/device">Approve a device</a></p>
<p class="note">Owners can download private conversations with the agent, as part of the workspace's export. They also see that such conversations exist, and can delete them.</p>
<form method="post" action="/"><button class="plain">Sign out</button></form>
${addresses(publicUrl)}`

/** Shows this page to somebody whom the console would be shown otherwise. */
const PLAIN = 'plain'

const show = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const { publicUrl } = deps.identity
  const person = await signedInPerson(deps, incoming)
  if (!person && deps.cookies.access(incoming.request)) return toSignIn(deps, incoming, '/')
  const leads = deps.console() !== 'off' && !queryOf(incoming).has(PLAIN)
  if (person && leads) return redirect(CONSOLE_PATH)
  return pageResponse({
    title: 'Start',
    body: person ? signedIn(person, publicUrl) : signedOut(publicUrl),
  })
}

const signOut = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  await trustedForm(deps, incoming)
  if (!(await signedInPerson(deps, incoming))) return toSignIn(deps, incoming, '/')
  const { cookies } = await enter(deps, incoming, { id: 'app.session.signOut', input: {} })
  return redirect('/', cookies)
}

export const homeRoutes = (deps: PageDeps): Route[] => [
  pageRoute(deps, 'GET', '/', show),
  pageRoute(deps, 'POST', '/', signOut),
]
