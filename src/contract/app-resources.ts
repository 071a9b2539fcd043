import { audit } from './app/audit.ts'
import { device } from './app/device.ts'
import { liveEvents } from './app/events.ts'
import { invitations } from './app/invitations.ts'
import { keys } from './app/keys.ts'
import { members } from './app/members.ts'
import { person } from './app/person.ts'
import { plan } from './app/plan.ts'
import { session, sessions } from './app/session.ts'
import { webhook } from './app/webhook.ts'
import { workspace } from './app/workspace.ts'
import { appConnections } from './growth/connecting.ts'
import { area } from './op.ts'

/** For signed-in people. API keys have no access but to events. */
export const appResources = area('app', {
  session: { about: 'Signing in and out.', group: session },
  sessions: { about: 'Your active sessions.', group: sessions },
  person: { about: 'Your account, across workspaces.', group: person },
  workspace: { about: 'The workspace itself.', group: workspace },
  members: { about: 'The members of the workspace and their roles.', group: members },
  device: { about: 'Approving a device by its code.', group: device },
  invitations: { about: 'Inviting people to the workspace.', group: invitations },
  connections: {
    about: 'Connecting and disconnecting accounts on networks.',
    group: appConnections,
  },
  plan: { about: 'The limits of the plan, and what is used.', group: plan },
  events: { about: 'Hints of what changes in the workspace, as it happens.', group: liveEvents },
  audit: { about: 'Who changed what, and when.', group: audit },
  webhook: { about: 'The endpoint that receives events as they happen.', group: webhook },
  keys: { about: 'API keys, for programs and agents.', group: keys },
})
