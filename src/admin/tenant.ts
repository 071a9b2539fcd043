/** `tendril admin tenant …`: workspaces. */
import { type AdminGroup, ofWorkspace, optional, paging, required, toggle } from './command.ts'
import { createTenant } from './tenant-create.ts'
import { eraseTenant, keepTenant } from './tenant-erase.ts'
import { exportTenant } from './tenant-export.ts'
import { importTenant } from './tenant-import.ts'
import { findTenants, getTenant, keysOfTenant, membersOfTenant, tenantPage } from './tenant-look.ts'
import { pauseTenant, resumeTenant, suspendTenant, unsuspendTenant } from './tenant-stop.ts'

const looking: AdminGroup['commands'] = {
  list: { about: 'List workspaces, newest first', flags: paging, run: tenantPage },
  find: {
    about:
      'List the workspaces of this id, whose name contains the text, or with a member or invitation whose email does',
    operands: ['TEXT'],
    flags: paging,
    run: findTenants,
  },
  get: {
    about: 'Read a workspace: plan, billing, who paused it, owners, the server that it runs in',
    flags: ofWorkspace,
    run: getTenant,
  },
  members: {
    about: 'List the members of a workspace, with their roles',
    flags: { ...ofWorkspace, ...paging },
    run: membersOfTenant,
  },
  keys: {
    about: 'List the API keys of a workspace, revoked ones too',
    flags: { ...ofWorkspace, ...paging },
    run: keysOfTenant,
  },
}

const stopping: AdminGroup['commands'] = {
  pause: {
    about: 'Pause all automation of a workspace, as its own kill switch does',
    flags: ofWorkspace,
    run: pauseTenant,
  },
  resume: {
    about: 'End the pause of the operator; what the workspace has paused itself stays paused',
    flags: ofWorkspace,
    run: resumeTenant,
  },
  suspend: {
    about: 'Suspend a workspace for its billing: what costs money is refused',
    flags: ofWorkspace,
    run: suspendTenant,
  },
  unsuspend: {
    about: 'Put the billing of a workspace in order again',
    flags: ofWorkspace,
    run: unsuspendTenant,
  },
}

const erasing: AdminGroup['commands'] = {
  erase: {
    about:
      "Delete a workspace in 14 days, as an owner does, or with --now at once and for good; NAME is the workspace's name",
    flags: { ...ofWorkspace, name: required('NAME'), now: toggle },
    run: eraseTenant,
  },
  keep: {
    about: 'Cancel the deletion of a workspace whose erasure has not begun',
    flags: ofWorkspace,
    run: keepTenant,
  },
}

export const tenantGroup: AdminGroup = {
  name: 'tenant',
  about: 'workspaces',
  commands: {
    create: {
      about:
        'Create a workspace with an API key and a sign-in link for its owner; --sandbox connects an account of the built-in network',
      flags: { name: required('NAME'), sandbox: toggle, email: optional('OWNER') },
      run: createTenant,
    },
    ...looking,
    ...stopping,
    ...erasing,
    export: {
      about:
        "Write the owners' export of a workspace and the bytes of its files to a new file that ends in .tar.zst, or to a new folder",
      operands: ['TO'],
      flags: ofWorkspace,
      run: exportTenant,
    },
    import: {
      about:
        'Make a new workspace of an archive of tenant export: nothing is approved in it, and what is left out is named on standard error or in FILE; --dry-run makes nothing',
      operands: ['FROM'],
      flags: {
        name: optional('NAME'),
        email: optional('OWNER'),
        report: optional('FILE'),
        'new-ids': toggle,
        'dry-run': toggle,
      },
      run: importTenant,
    },
  },
}
