/** The page where a person compares a device's code, and approves or denies the device. */
import { AppError } from '#kernel/errors'
import type { Role } from '#kernel/roles'
import type { SessionGrant } from '#store/app/sessions'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { type Html, html } from './html.ts'
import {
  field,
  hiddenField,
  type Problem,
  pageResponse,
  pageStatus,
  problemsOf,
  redirect,
  retryHeaders,
  timeText,
} from './layout.ts'
import {
  enter,
  type PageDeps,
  pageRoute,
  queryOf,
  signedInPerson,
  toSignIn,
  trustedForm,
} from './page.ts'
import { roleText, scopeText } from './words.ts'

const pathFor = (code: string): string =>
  code === '' ? '/device' : `/device?code=${encodeURIComponent(code)}`

const codeForm = (
  code: string,
  problems: Problem[] = [],
): Html => html`<p>Enter the code that your device shows.
Continue only if you have just started this yourself.</p>
<form method="get" action="/device">
${field({ name: 'code', label: 'Code', autocomplete: 'off', value: code, hint: 'Eight letters, such as BCDF-GHJK.', problems })}
<button>Continue</button>
</form>`

interface DeviceRequest {
  user_code: string
  device_name: string
  address: string
  created_at: string
  scopes: string[]
  grantable: string[]
  workspace: { id: string; name: string }
  role: Role
}

interface Workspace {
  id: string
  name: string
}

const scopeList = ({ scopes, grantable }: DeviceRequest): Html =>
  html`<ul>${scopes.map((scope) =>
    grantable.includes(scope)
      ? html`<li>${scopeText(scope)}</li>`
      : html`<li><s>${scopeText(scope)}</s> (requested, but your role cannot grant this)</li>`,
  )}</ul>`

const workspaceForm = (
  { user_code, workspace }: DeviceRequest,
  workspaces: Workspace[],
): Html | undefined =>
  workspaces.length < 2
    ? undefined
    : html`<h2>Use another workspace</h2>
<form method="post" action="/device">
<label for="workspace">Workspace</label>
<select id="workspace" name="move_to">${workspaces.map(
        ({ id, name }) =>
          html`<option value="${id}"${id === workspace.id ? html` selected` : undefined}>${name}</option>`,
      )}</select>
${hiddenField('code', user_code)}
<button class="plain">Choose workspace</button>
</form>`

const confirmation = (
  request: DeviceRequest,
  workspaces: Workspace[],
): Html => html`<p>Does your device show exactly this code?</p>
<p class="code">${request.user_code}</p>
<p class="note"><strong>Approve only if you started this yourself, just now, on your own device.</strong>
If someone sent you this code or a link to this page, approving lets them act in your name. The operators of this deployment never ask you to approve a code. If in doubt, deny.</p>
<dl>
<dt>Device name, as given by the device</dt><dd>${request.device_name}</dd>
<dt>IP address</dt><dd>${request.address}</dd>
<dt>Requested</dt><dd>${timeText(request.created_at)}</dd>
<dt>Workspace</dt><dd>${request.workspace.name}</dd>
<dt>Your role there</dt><dd>${roleText(request.role)}</dd>
<dt>The device will be able to</dt><dd>${scopeList(request)}</dd>
</dl>
<form method="post" action="/device">
${hiddenField('code', request.user_code)}
${hiddenField('workspace_id', request.workspace.id)}
<button name="decision" value="deny" class="plain">Deny</button>
<button name="decision" value="approve">Approve</button>
</form>
${workspaceForm(request, workspaces)}`

const results: Record<string, { title: string; body: Html }> = {
  approve: {
    title: 'Device approved',
    body: html`<p>Return to your device. It continues within a few seconds. You can close this page.</p>`,
  },
  deny: { title: 'Device denied', body: html`<p>You can close this page.</p>` },
}

const refusalPage = (error: AppError, code: string): Response => {
  const isWrong = error.code === 'not_found' || error.code === 'invalid_input'
  const problems = isWrong ? [{ field: 'code', says: WRONG_CODE }] : problemsOf(error, {})
  const page = { title: 'Approve a device', body: codeForm(code, problems), problems }
  return pageResponse({ ...page, status: pageStatus(error), headers: retryHeaders(error) })
}

const WRONG_CODE =
  'No device is waiting with this code. Check for typing errors. The code may also have been used already, or have expired.'

const EXPECTED = ['not_found', 'invalid_input', 'rate_limited', 'forbidden', 'conflict']

const requireExpected = (cause: unknown): AppError => {
  const error = AppError.from(cause)
  if (!EXPECTED.includes(error.code)) throw cause
  return error
}

const ask = async (deps: PageDeps, incoming: Incoming, code: string): Promise<Response> => {
  try {
    const { body } = await enter(deps, incoming, {
      id: 'app.device.find',
      input: { user_code: code },
    })
    const workspaces = (await enter(deps, incoming, { id: 'app.session.get', input: {} })).body
      .session.workspaces
    return pageResponse({
      title: 'Approve this device?',
      body: confirmation(body.request, workspaces),
    })
  } catch (cause) {
    return refusalPage(requireExpected(cause), code)
  }
}

const show = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const query = queryOf(incoming)
  const code = (query.get('code') ?? '').slice(0, LONGEST_CODE)
  const result = results[query.get('done') ?? '']
  if (result && Object.hasOwn(results, query.get('done')!)) return pageResponse(result)
  if (!(await signedInPerson(deps, incoming))) return toSignIn(deps, incoming, pathFor(code))
  return code === ''
    ? pageResponse({ title: 'Approve a device', body: codeForm('') })
    : ask(deps, incoming, code)
}

const LONGEST_CODE = 40

const send = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const { code = '', decision = '', workspace_id, move_to } = await trustedForm(deps, incoming)
  const person: SessionGrant | undefined = await signedInPerson(deps, incoming)
  // After signing in, the person sees the question again and can decide.
  if (!person) return toSignIn(deps, incoming, pathFor(code))
  try {
    if (move_to !== undefined) {
      await enter(deps, incoming, {
        id: 'app.session.switchWorkspace',
        input: { workspace_id: move_to },
      })
      return redirect(pathFor(code))
    }
    const workspace = workspace_id === undefined ? {} : { workspace_id }
    await enter(deps, incoming, {
      id: 'app.device.decide',
      input: { user_code: code, decision, ...workspace },
    })
    return redirect(`/device?done=${decision}`)
  } catch (cause) {
    return refusalPage(requireExpected(cause), code)
  }
}

export const devicePageRoutes = (deps: PageDeps): Route[] => [
  pageRoute(deps, 'GET', '/device', show),
  pageRoute(deps, 'POST', '/device', send),
]
