/** The page where a person decides about a version of a playbook. */
import { AppError, fail } from '#kernel/errors'
import { scopes } from '#kernel/scopes'
import { mayRun } from '#ops/engine/access'
import type { SessionGrant } from '#store/app/sessions'
import type { Incoming } from '../incoming.ts'
import type { Route } from '../route.ts'
import { pageResponse, pageStatus, problemsOf, redirect, retryHeaders } from './layout.ts'
import { nameOfMember } from './members.ts'
import {
  foundPage,
  type PageDeps,
  pageRoute,
  run,
  signedInPerson,
  toSignIn,
  trustedForm,
} from './page.ts'
import {
  type ShownVersion,
  type Version,
  versionBody,
  versionTitle,
} from './playbook-version-body.ts'

const placeOf = ({ params }: Incoming): { id: string; versionId: string } => ({
  id: params!.id!,
  versionId: params!.versionId!,
})

const pathFor = ({ id, versionId }: { id: string; versionId: string }): string =>
  `/playbooks/${encodeURIComponent(id)}/versions/${encodeURIComponent(versionId)}`

const ACTIVATE = 'agent.playbooks.activate'

const refusalOf = (
  { operations }: PageDeps,
  { id, person, workspace: { role } }: SessionGrant,
): string | undefined => {
  const o = operations.find((one) => one.id === ACTIVATE)!
  const principal = { kind: 'session', id, member: { personId: person.id, role } } as const
  if (mayRun(o, { scopes: new Set([...scopes, 'session']), principal })) return undefined
  return `You cannot decide about this: your role is ${role}, and activating a playbook requires ${['owner', ...o.roles].join(' or ')}.`
}

interface Read {
  playbook: ShownVersion['playbook']
  versions: Version[]
}

const show = async (
  deps: PageDeps,
  incoming: Incoming,
  person: SessionGrant,
  error?: AppError,
): Promise<Response> => {
  const { id, versionId } = placeOf(incoming)
  const { playbook, versions } = (await run(deps, incoming, {
    id: 'agent.playbooks.get',
    input: { id },
  })) as Read
  const version = versions.find((one) => one.id === versionId)
  if (!version) return fail('not_found', 'no such version')
  const decider = version.decidedBy
  const shown: ShownVersion = {
    playbook,
    version,
    workspace: person.workspace.name,
    refusal: refusalOf(deps, person),
    active: versions.find((one) => one.state === 'active' && one.id !== versionId),
    by: decider?.personId
      ? await nameOfMember(deps, incoming, decider.personId)
      : decider === null
        ? undefined
        : 'an API key',
  }
  const page = {
    title: versionTitle(shown),
    body: versionBody(shown),
    inConsole: `inbox/playbook/${versionId}`,
  }
  if (!error) return pageResponse(page)
  return pageResponse({
    ...page,
    problems: problemsOf(error, {}),
    status: pageStatus(error),
    headers: retryHeaders(error),
  })
}

const showFound = (
  deps: PageDeps,
  incoming: Incoming,
  person: SessionGrant,
  error?: AppError,
): Promise<Response> =>
  foundPage(show(deps, incoming, person, error), person, 'version of a playbook')

const open = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const person = await signedInPerson(deps, incoming)
  return person
    ? showFound(deps, incoming, person)
    : toSignIn(deps, incoming, pathFor(placeOf(incoming)))
}

const DECISIONS: Record<string, string> = { activate: ACTIVATE, reject: 'agent.playbooks.reject' }
const EXPECTED = ['not_found', 'invalid_input', 'rate_limited', 'forbidden', 'conflict']

const send = async (deps: PageDeps, incoming: Incoming): Promise<Response> => {
  const person = await signedInPerson(deps, incoming)
  const place = placeOf(incoming)
  // After signing in, the person sees the question again and can decide.
  if (!person) return toSignIn(deps, incoming, pathFor(place))
  const { decision = '' } = await trustedForm(deps, incoming)
  try {
    const operation = DECISIONS[decision]
    if (operation !== undefined) await run(deps, incoming, { id: operation, input: place })
    return redirect(pathFor(place))
  } catch (cause) {
    const error = AppError.from(cause)
    if (!EXPECTED.includes(error.code)) throw cause
    return showFound(deps, incoming, person, error)
  }
}

export const playbookVersionPageRoutes = (deps: PageDeps): Route[] => [
  pageRoute(deps, 'GET', '/playbooks/:id/versions/:versionId', open),
  pageRoute(deps, 'POST', '/playbooks/:id/versions/:versionId', send),
]
