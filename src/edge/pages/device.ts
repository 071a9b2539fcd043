/** Where a person compares the code of a device, and lets it in or not. */
import { AppError } from '#kernel/errors'
import type { Role } from '#kernel/roles'
import type { SessionGrant } from '#store/app/sessions'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { type Html, html } from './html.ts'
import { field, goTo, hidden, type Problem, pageResponse, problemsOf, retryHeaders, statusOf } from './layout.ts'
import { enter, ownForm, type PageDeps, pageRoute, queryOf, signedInPerson, toSignIn } from './page.ts'
import { roleText, scopeText } from './words.ts'

const pathFor = (code: string): string => (code === '' ? '/device' : `/device?code=${encodeURIComponent(code)}`)

const entry = (code: string, problems: Problem[] = []): Html => html`<p>Enter the code that your device shows.
Continue only if you have just started this yourself.</p>
<form method="get" action="/device">
${field({ name: 'code', label: 'Code', autocomplete: 'off', value: code, hint: 'Eight letters, such as BCDF-GHJK.', problems })}
<button>Go on</button>
</form>`

interface Asking {
  user_code: string
  device_name: string
  address: string
  created_at: string
  scopes: string[]
  grantable: string[]
  workspace: { id: string; name: string }
  role: Role
}

interface Place {
  id: string
  name: string
}

const scopeList = ({ scopes, grantable }: Asking): Html =>
  html`<ul>${scopes.map((scope) =>
    grantable.includes(scope)
      ? html`<li>${scopeText(scope)}</li>`
      : html`<li><s>${scopeText(scope)}</s> (requested, but your role cannot grant it)</li>`,
  )}</ul>`

const elsewhere = ({ user_code, workspace }: Asking, places: Place[]): Html | undefined =>
  places.length < 2
    ? undefined
    : html`<h2>Another workspace?</h2>
<form method="post" action="/device">
<label for="workspace">Workspace</label>
<select id="workspace" name="move_to">${places.map(
        ({ id, name }) => html`<option value="${id}"${id === workspace.id ? html` selected` : undefined}>${name}</option>`,
      )}</select>
${hidden('code', user_code)}
<button class="plain">Choose workspace</button>
</form>`

const confirmation = (asking: Asking, places: Place[]): Html => html`<p>Does your device show exactly this code?</p>
<p class="code">${asking.user_code}</p>
<p class="note"><strong>Approve only if you have started this yourself, just now, on a device of your own.</strong>
If somebody sent you this code or a link to this page, approving lets them act in your name. The people who run this deployment never ask you for it. If in doubt, deny.</p>
<dl>
<dt>The device calls itself</dt><dd>${asking.device_name}</dd>
<dt>Its address</dt><dd>${asking.address}</dd>
<dt>Since</dt><dd><time datetime="${asking.created_at}">${asking.created_at.slice(0, 19).replace('T', ' ')} UTC</time></dd>
<dt>It will act in the workspace</dt><dd>${asking.workspace.name}</dd>
<dt>In your role</dt><dd>${roleText(asking.role)}</dd>
<dt>It may</dt><dd>${scopeList(asking)}</dd>
</dl>
<form method="post" action="/device">
${hidden('code', asking.user_code)}
${hidden('workspace_id', asking.workspace.id)}
<button name="decision" value="deny" class="plain">Deny</button>
<button name="decision" value="approve">Approve</button>
</form>
${elsewhere(asking, places)}`

const results: Record<string, { title: string; body: Html }> = {
  approve: {
    title: 'The device is let in',
    body: html`<p>Return to your device, which continues within a few seconds. You can close this page.</p>`,
  },
  deny: { title: 'The device is not let in', body: html`<p>You can close this page.</p>` },
}

const refused = (error: AppError, code: string): Response => {
  const said = problemsOf(error, {})
  const problems = error.code === 'not_found' || error.code === 'invalid_input' ? [{ field: 'code', says: WRONG_CODE }] : said
  const page = { title: 'Let a device in', body: entry(code, problems), problems }
  return pageResponse({ ...page, status: statusOf(error), headers: retryHeaders(error) })
}

const WRONG_CODE = 'No device waits under this code. It may be mistyped, decided on, or too old.'

const EXPECTED = ['not_found', 'invalid_input', 'rate_limited', 'forbidden', 'conflict']

const expected = (cause: unknown): AppError => {
  const error = AppError.from(cause)
  if (!EXPECTED.includes(error.code)) throw cause
  return error
}

const ask = async (deps: PageDeps, incoming: Incoming, code: string): Promise<Response> => {
  try {
    const { body } = await enter(deps, incoming, { id: 'app.device.find', input: { user_code: code } })
    const places = (await enter(deps, incoming, { id: 'app.session.get', input: {} })).body.session.workspaces
    return pageResponse({ title: 'Let this device in?', body: confirmation(body.request, places) })
  } catch (cause) {
    return refused(expected(cause), code)
  }
}

const show = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const query = queryOf(incoming)
  const code = (query.get('code') ?? '').slice(0, LONGEST_CODE)
  const result = results[query.get('done') ?? '']
  if (result && Object.hasOwn(results, query.get('done')!)) return pageResponse(result)
  if (!(await signedInPerson(deps, incoming))) return toSignIn(deps, incoming, pathFor(code))
  return code === '' ? pageResponse({ title: 'Let a device in', body: entry('') }) : ask(deps, incoming, code)
}

const LONGEST_CODE = 40

const send = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const { code = '', decision = '', workspace_id, move_to } = await ownForm(deps, incoming)
  const person: SessionGrant | undefined = await signedInPerson(deps, incoming)
  // What was decided is asked anew: by then the session goes on.
  if (!person) return toSignIn(deps, incoming, pathFor(code))
  try {
    if (move_to !== undefined) {
      await enter(deps, incoming, { id: 'app.session.switchWorkspace', input: { workspace_id: move_to } })
      return goTo(pathFor(code))
    }
    const place = workspace_id === undefined ? {} : { workspace_id }
    await enter(deps, incoming, { id: 'app.device.decide', input: { user_code: code, decision, ...place } })
    return goTo(`/device?done=${decision}`)
  } catch (cause) {
    return refused(expected(cause), code)
  }
}

export const devicePageRoutes = (deps: PageDeps): Route[] => [
  pageRoute(deps, 'GET', '/device', show),
  pageRoute(deps, 'POST', '/device', send),
]
