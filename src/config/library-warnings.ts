/**
 * Keeps libraries from writing warnings of their own between ours. Must run before the AWS SDK is loaded: it warns
 * of Node versions that its later releases will not support, which concerns us when we upgrade it, not operators.
 */
export function silenceLibraries(env: NodeJS.ProcessEnv = process.env): void {
  env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
}
