/**
 * The request header that names the workspace a request is for. If the credential is in another
 * one, nothing is read or written.
 */
export const WORKSPACE_HEADER = 'Tendril-Workspace'
