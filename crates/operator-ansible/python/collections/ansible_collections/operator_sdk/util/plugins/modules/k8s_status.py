#!/usr/bin/python
# Copyright The operator-forge authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes the status of an object."""

DOCUMENTATION = """
module: k8s_status
short_description: Change the status of a Kubernetes object
description: Merges into the status of an object, or replaces it. The object needs the status subresource.
author: The operator-forge authors
options:
  api_version: {type: str, description: The API version of the object., aliases: [api, version], default: v1}
  kind: {type: str, description: The kind of the object., required: true}
  name: {type: str, description: The name of the object., required: true}
  namespace: {type: str, description: The namespace of the object.}
  status: {type: dict, description: What to set in the status.}
  conditions: {type: list, elements: dict, description: Conditions to set; others stay.}
  force: {type: bool, default: false, description: Replaces the status rather than merging into it.}
  replace_lists: {type: bool, default: false, description: Replaces conditions, too, rather than merging them by type.}
  kubeconfig: {type: raw, description: The kubeconfig file.}
  context: {type: str, description: The context of the kubeconfig file.}
  host: {type: str, description: The URL of the API server.}
  api_key: {type: str, description: A token.}
  username: {type: str, description: A user name.}
  password: {type: str, description: A password.}
  ca_cert: {type: path, description: A file with the certificate authority., aliases: [ssl_ca_cert]}
  client_cert: {type: path, description: A file with a client certificate., aliases: [cert_file]}
  client_key: {type: path, description: A file with a key., aliases: [key_file]}
  validate_certs: {type: bool, description: Whether to check certificates., aliases: [verify_ssl]}
"""

EXAMPLES = """
- operator_sdk.util.k8s_status:
    api_version: app.example.com/v1
    kind: App
    name: "{{ ansible_operator_meta.name }}"
    namespace: "{{ ansible_operator_meta.namespace }}"
    status:
      phase: Running
"""

import copy
import json
import re

from ansible.module_utils.basic import AnsibleModule, env_fallback

CONDITION = {
    "type": r"[A-Za-z0-9]([A-Za-z0-9_./-]*[A-Za-z0-9])?",
    "status": r"True|False|Unknown",
    "reason": r"[A-Z]([a-zA-Z0-9]*)",
}


def check(condition):
    """Says what is wrong with a condition."""
    for field, pattern in CONDITION.items():
        value = condition.get(field)
        if value is None and field == "reason":
            continue
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            return f"the condition {condition} has the {field} `{value}`, which does not match {pattern}"
    for field in ("message", "lastHeartbeatTime", "lastTransitionTime"):
        if field in condition and not isinstance(condition[field], str):
            return f"the condition {condition} has a {field} that is no text"
    return None


def merge(old, new):
    """The conditions of both; where both have a type, the new one, with the old time while the status stays the same."""
    merged = copy.deepcopy(old)
    for condition in new:
        found = next((it for it in merged if it.get("type") == condition["type"]), None)
        if found is None:
            merged.append(dict(condition))
            continue
        if "lastTransitionTime" not in condition and found.get("status") == condition["status"] and "lastTransitionTime" in found:
            condition = {**condition, "lastTransitionTime": found["lastTransitionTime"]}
        merged[merged.index(found)] = dict(condition)
    return merged


def contains(whole, part):
    """Whether a merge of `part` changes nothing."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all((key in whole and contains(whole[key], value)) or (value is None and key not in whole) for key, value in part.items())
    return whole == part


class Refused(Exception):
    """The API server refused a call."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Client:
    """Calls the API server by the REST client of the package kubernetes, whose other parts differ between its versions."""

    def __init__(self, params):
        from kubernetes import client, config
        from kubernetes.client import rest

        configuration = client.Configuration()
        if params["host"]:
            configuration.host = params["host"]
        else:
            kubeconfig = params["kubeconfig"]
            options = {"client_configuration": configuration, "context": params["context"]}
            if isinstance(kubeconfig, dict):
                config.load_kube_config_from_dict(kubeconfig, **options)
            else:
                config.load_kube_config(config_file=kubeconfig, **options)
        for option, field in (
            ("username", "username"),
            ("password", "password"),
            ("ca_cert", "ssl_ca_cert"),
            ("client_cert", "cert_file"),
            ("client_key", "key_file"),
            ("validate_certs", "verify_ssl"),
        ):
            if params[option] is not None:
                setattr(configuration, field, params[option])
        self.headers = {"Accept": "application/json"}
        for auth in configuration.auth_settings().values():
            if auth and auth.get("in") == "header" and auth.get("value"):
                self.headers[auth["key"]] = auth["value"]
        if params["api_key"]:
            self.headers["authorization"] = f"Bearer {params['api_key']}"
        self.host = configuration.host.rstrip("/")
        self.rest = rest.RESTClientObject(configuration)

    def call(self, method, path, body=None, content_type="application/json"):
        from kubernetes.client.exceptions import ApiException

        headers = {**self.headers, "Content-Type": content_type}
        try:
            answer = self.rest.request(method, f"{self.host}{path}", headers=headers, body=body)
        except ApiException as error:
            raise Refused(error.status, message(error.body) or str(error.reason)) from error
        data = answer.data if answer.data is not None else answer.read()
        if not 200 <= answer.status < 300:
            raise Refused(answer.status, message(data) or str(answer.reason))
        return json.loads(data)


def message(data):
    """The message of an answer of the API server."""
    try:
        return json.loads(data)["message"]
    except (TypeError, ValueError, KeyError):
        return data.decode("utf-8", "replace") if isinstance(data, bytes) else data


def path_of(api, params):
    """The path of the object, if its kind has a status."""
    version = params["api_version"]
    base = f"/apis/{version}" if "/" in version else f"/api/{version}"
    served = api.call("GET", base)["resources"]
    found = next((it for it in served if it["kind"] == params["kind"] and "/" not in it["name"]), None)
    if found is None:
        raise ValueError(f"the API server does not serve the kind {params['kind']} of {version}")
    if not any(it["name"] == f"{found['name']}/status" for it in served):
        raise ValueError(f"{params['kind']} of {version} has no status subresource")
    if found["namespaced"]:
        if not params["namespace"]:
            raise ValueError(f"{params['kind']} is namespaced, and no namespace is given")
        base += f"/namespaces/{params['namespace']}"
    return f"{base}/{found['name']}/{params['name']}"


def main():
    def auth(type_, variable, **more):
        return {"type": type_, "fallback": (env_fallback, [variable]), **more}

    module = AnsibleModule(
        argument_spec={
            "api_version": {"type": "str", "default": "v1", "aliases": ["api", "version"]},
            "kind": {"type": "str", "required": True},
            "name": {"type": "str", "required": True},
            "namespace": {"type": "str"},
            "status": {"type": "dict"},
            "conditions": {"type": "list", "elements": "dict"},
            "force": {"type": "bool", "default": False},
            "replace_lists": {"type": "bool", "default": False},
            "kubeconfig": auth("raw", "K8S_AUTH_KUBECONFIG", no_log=True),
            "context": auth("str", "K8S_AUTH_CONTEXT"),
            "host": auth("str", "K8S_AUTH_HOST"),
            "api_key": auth("str", "K8S_AUTH_API_KEY", no_log=True),
            "username": auth("str", "K8S_AUTH_USERNAME"),
            "password": auth("str", "K8S_AUTH_PASSWORD", no_log=True),
            "ca_cert": auth("path", "K8S_AUTH_SSL_CA_CERT", aliases=["ssl_ca_cert"]),
            "client_cert": auth("path", "K8S_AUTH_CERT_FILE", aliases=["cert_file"]),
            "client_key": auth("path", "K8S_AUTH_KEY_FILE", aliases=["key_file"], no_log=False),
            "validate_certs": auth("bool", "K8S_AUTH_VERIFY_SSL", aliases=["verify_ssl"]),
        },
        required_one_of=[["status", "conditions"]],
        supports_check_mode=True,
    )
    params = module.params
    status = dict(params["status"] or {})
    if params["conditions"]:
        status["conditions"] = params["conditions"]
    for condition in status.get("conditions") or []:
        wrong = check(condition)
        if wrong:
            module.fail_json(msg=wrong)
    of = f"the status of {params['kind']} {params['name']} cannot be set"
    try:
        api = Client(params)
        path = path_of(api, params)
        found = api.call("GET", path)
        old = found.get("status") or {}
        if old.get("conditions") and status.get("conditions") and not params["replace_lists"] and not params["force"]:
            status["conditions"] = merge(old["conditions"], status["conditions"])
        if (old == status) if params["force"] else contains(old, status):
            module.exit_json(changed=False, result=found)
        if module.check_mode:
            module.exit_json(changed=True, result=found)
        if params["force"]:
            found["status"] = status
            result = api.call("PUT", f"{path}/status", found)
        else:
            result = api.call("PATCH", f"{path}/status", {"status": status}, "application/merge-patch+json")
    except ImportError as error:
        module.fail_json(msg=f"the Python package kubernetes is needed: {error}")
    except Refused as error:
        module.fail_json(msg=f"{of}: {error}", status=error.status)
    except (ValueError, OSError) as error:
        module.fail_json(msg=f"{of}: {error}")
    module.exit_json(changed=True, result=result)


if __name__ == "__main__":
    main()
