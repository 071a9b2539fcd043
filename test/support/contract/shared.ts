/**
 * Workspaces that tests over the whole contract share: a new one for each of thousands of cases
 * would cost more than the tests themselves. Commands share theirs with nothing else, so no case
 * depends on which others ran before.
 */
import { type NamedOp, readsOnly } from '#contract/op'
import type { Role } from '#kernel/roles'
import { scopes } from '#kernel/scopes'
import type { TestApp } from '../app.ts'
import { type SignedIn, signedIn } from '../session.ts'
import { newWorkspace, type Workspace } from './prepare.ts'

/** These operations change the workspace as a whole, so each of their cases gets its own. */
const alone = new Set([
  'growth.automation.pauseAll',
  'growth.automation.resumeAll',
  'growth.connection.disconnect',
  'growth.profile.update',
  'agent.modules.set',
  'app.members.remove',
  'app.workspace.requestDeletion',
  'app.workspace.cancelDeletion',
])

export interface Place {
  workspace: Workspace
  person: SignedIn
}

export interface Shared {
  /** A workspace in which the operation may run. */
  workspaceFor(o: NamedOp): Promise<Workspace>
  /** The same, with a person of this role. */
  placeFor(o: NamedOp, role: Role): Promise<Place>
  /** A workspace in which operations only read, or are refused. */
  quietPlace(role: Role): Promise<Place>
  /** A key of the person with every scope. */
  keyOf(place: Place): Promise<string>
}

/** A key with the rights of the person. */
export const newKeyOf = async (
  app: TestApp,
  { workspace, person }: Place,
  granted = [...scopes],
): Promise<{ id: string; api_key: string }> => {
  const created = await app.newKey(granted, workspace.tenantId)
  await app.owner`update api_key set person_id = ${person.personId} where id = ${created.id}`
  return created
}

export const sharedWorkspaces = (app: TestApp): Shared => {
  const workspaces = new Map<string, Promise<Workspace>>()
  const people = new Map<string, Promise<SignedIn>>()
  const keys = new Map<string, Promise<string>>()
  const named = (name: string) => workspaces.getOrInsertComputed(name, () => newWorkspace(app))
  const workspaceFor = async (o: NamedOp) => {
    if (readsOnly(o)) return named('quiet')
    return alone.has(o.id) ? newWorkspace(app) : named(o.id)
  }
  const placeIn = async (workspace: Workspace, role: Role) => {
    const { tenantId } = workspace
    const signIn = () => signedIn(app, tenantId, role)
    return { workspace, person: await people.getOrInsertComputed(`${tenantId} ${role}`, signIn) }
  }
  return {
    workspaceFor,
    placeFor: async (o, role) => placeIn(await workspaceFor(o), role),
    quietPlace: async (role) => placeIn(await named('quiet'), role),
    keyOf: (place) =>
      keys.getOrInsertComputed(
        place.person.personId,
        async () => (await newKeyOf(app, place)).api_key,
      ),
  }
}
