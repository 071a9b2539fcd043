/** The start page until there is a console: who is signed in, and where what is. */
import type { SessionGrant } from '#store/app/sessions'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { type Html, html } from './html.ts'
import { goTo, pageResponse } from './layout.ts'
import { enter, ownForm, type PageDeps, pageRoute, signedInPerson, toSignIn } from './page.ts'
import { emailText, roleText } from './words.ts'

const addresses = (publicUrl: string): Html => html`<h2>For programs and agents</h2>
<dl>
<dt>REST</dt><dd>${publicUrl}/api/v1</dd>
<dt>Its documentation (OpenAPI)</dt><dd><a href="/api/v1/openapi.json">${publicUrl}/api/v1/openapi.json</a></dd>
<dt>MCP</dt><dd>${publicUrl}/api/v1/mcp</dd>
<dt>What this deployment can do</dt><dd><a href="/.well-known/tendril.json">${publicUrl}/.well-known/tendril.json</a></dd>
</dl>`

const signedOut = (publicUrl: string): Html => html`<p>Drafts posts, keeps each behind your approval, and posts each exactly once.</p>
<p><a href="/sign-in">Sign in</a></p>
${addresses(publicUrl)}`

const signedIn = ({ person, workspace }: SessionGrant, publicUrl: string): Html => html`<dl>
<dt>Signed in as</dt><dd>${[person.name, person.email].filter(Boolean).join(', ')}</dd>
<dt>Email</dt><dd>${emailText(person.email_status)}</dd>
<dt>Workspace</dt><dd>${workspace.name}</dd>
<dt>Your role</dt><dd>${roleText(workspace.role)}</dd>
</dl>
<p><a href="/device">Let a device in</a></p>
<form method="post" action="/"><button class="plain">Sign out</button></form>
${addresses(publicUrl)}`

const show = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const { publicUrl } = deps.identity
  const person = await signedInPerson(deps, incoming)
  if (!person && deps.cookies.access(incoming.request)) return toSignIn(deps, incoming, '/')
  return pageResponse({ title: 'Start', body: person ? signedIn(person, publicUrl) : signedOut(publicUrl) })
}

const signOut = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  await ownForm(deps, incoming)
  if (!(await signedInPerson(deps, incoming))) return toSignIn(deps, incoming, '/')
  const { cookies } = await enter(deps, incoming, { id: 'app.session.signOut', input: {} })
  return goTo('/', cookies)
}

export const homeRoutes = (deps: PageDeps): Route[] => [pageRoute(deps, 'GET', '/', show), pageRoute(deps, 'POST', '/', signOut)]
